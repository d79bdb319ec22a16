//! The columns of a sealed file, and which columns of the rows they are made of.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};

use crate::origin;
use crate::sealed::stand_in::StandIn;

/// One column of a sealed file.
#[derive(Debug)]
pub(crate) struct Cells {
    /// The column of the rows.
    pub(crate) index: usize,
    /// What is written in its place, and the columns of the rows that make its sum.
    pub(crate) stand_in: Option<(&'static StandIn, Vec<usize>)>,
}

/// The columns of a sealed file, for rows of that schema.
pub(crate) fn all(rows: &Schema) -> Vec<Cells> {
    (0..rows.fields().len()).flat_map(|index| cells(rows, index)).collect()
}

fn cells(rows: &Schema, index: usize) -> Vec<Cells> {
    let parts = |s: &StandIn| s.parts().iter().filter_map(|part| rows.index_of(part).ok()).collect();
    match StandIn::of(rows.field(index).name()) {
        [] => vec![Cells { index, stand_in: None }],
        some => some.iter().map(|s| Cells { index, stand_in: Some((s, parts(s))) }).collect(),
    }
}

/// The schema of a sealed file, for rows of that one.
pub(crate) fn schema(rows: &Schema) -> SchemaRef {
    let field = |cells: Cells| match cells.stand_in {
        Some((stand_in, _)) => Arc::new(stand_in.field()),
        None => rows.fields()[cells.index].clone(),
    };
    let fields: Vec<Arc<Field>> = all(rows).into_iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, origin::renewed(rows.metadata())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::columns::arrow_schema;
    use crate::format::origin::Origin;

    #[test]
    fn rows_of_an_earlier_format_are_sealed_in_this_one() {
        let origin = Origin { host: "a".into(), every: None, wraps_at_32_bits: false, source: "b".into() };
        let table = laggard_core::model::schema::Schema::named("disk").unwrap();
        let now = arrow_schema(table, &origin);
        let mut metadata = now.metadata().clone();
        metadata.insert("laggard.format".into(), "1".into());
        let earlier = Schema::new_with_metadata(now.fields().clone(), metadata);
        assert_eq!(schema(&earlier).metadata(), now.metadata());
        assert_eq!(schema(&earlier).fields().len(), now.fields().len() + 2);
    }
}
