use super::*;

#[test]
fn every_adapter_can_be_read_and_an_unknown_one_is_reported() {
    assert_eq!(read().unwrap().len(), FILES.len());
    assert!(Adapter::named("gluster-dispersed").is_ok());
    let error = Adapter::named("zfs").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no file system \"zfs\"; expected one of beegfs, ceph, gluster-dispersed, gluster-replicated, \
         gluster-sharded, lustre, moosefs"
    );
}

#[test]
fn an_adapter_has_what_it_does_not_contain_from_the_one_it_is_like() {
    let [one, other] = ["gluster-dispersed", "gluster-replicated"].map(|name| Adapter::named(name).unwrap());
    assert_eq!(
        (&one.fsck, &one.revive, one.least_servers),
        (&other.fsck, &other.revive, other.least_servers)
    );
    assert!(one.create.contains("disperse ") && other.create.contains("replica "));
    let alone = toml::Table::from_iter([("like".to_owned(), "none-such".into())]);
    assert!(completed(alone, &[]).unwrap_err().to_string().contains("there is no adapter \"none-such\""));
}

#[test]
fn a_script_that_uses_a_function_has_it_and_others_do_not() {
    let adapter = Adapter::named("moosefs").unwrap();
    assert_eq!(adapter.start, adapter.revive);
    assert!(adapter.start.contains("launch() {") && !adapter.mount.contains("launch"));
}

#[test]
fn a_file_may_be_an_adapter_and_mistakes_in_it_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let named = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Adapter::named(path.to_str().unwrap()).map_err(|error| error.to_string())
    };
    let mine = named("name = 'mine'\nlike = 'gluster-dispersed'\nhealth = 'true'").unwrap();
    assert_eq!((mine.health.as_str(), mine.handle()), ("true", path.display().to_string()));
    assert_eq!(mine.mount, Adapter::named("gluster-dispersed").unwrap().mount);
    let error = named("name = 'mine'\nlike = 'gluster-dispersed'\ncolour = 1").unwrap_err();
    assert!(error.contains("mine.toml: ") && error.contains("unknown field `colour`"), "{error}");
    let error = named("name = 'mine'").unwrap_err();
    assert!(error.contains("mine.toml: missing field"), "{error}");
}

#[test]
fn extras_are_not_required() {
    assert!(Adapter::named("moosefs").unwrap().is_extra);
    let names: Vec<String> = all().unwrap().into_iter().map(|adapter| adapter.name).collect();
    assert_eq!(names, ["gluster-dispersed", "gluster-replicated", "gluster-sharded"]);
}

#[test]
fn the_reason_why_a_lab_cannot_run_an_adapter_is_reported() {
    let error = Adapter::named("lustre").unwrap().check_lab().unwrap_err().to_string();
    assert!(error.starts_with("a lab cannot run lustre: it needs kernel modules"), "{error}");
    assert!(Adapter::named("gluster-replicated").unwrap().check_lab().is_ok());
}

fn scripts(adapter: &Adapter) -> Vec<String> {
    adapter.clone().scripts_mut().into_iter().map(|script| script.clone()).collect()
}

#[test]
fn the_scripts_of_every_adapter_are_valid_shell() {
    for adapter in read().unwrap() {
        for script in scripts(&adapter) {
            let status = std::process::Command::new("sh").args(["-nc", &script]).status().unwrap();
            assert!(status.success(), "{}: {script}", adapter.name);
        }
        assert!(adapter.no_lab.is_some() || !adapter.daemons.is_empty());
        assert!(!adapter.logs.is_empty() && adapter.rules.is_some() && adapter.fsck.is_some());
    }
}

#[test]
fn scripts_use_only_variables_that_they_are_given() {
    let given = ["FIRST", "OTHERS", "SERVERS", "COUNT", "REDUNDANCY", "ADDRESS", "BRICK", "MOUNTPOINT"];
    let variable = regex::Regex::new(r"\$\{?([A-Z][A-Z_]*)").unwrap();
    for adapter in read().unwrap() {
        for script in scripts(&adapter) {
            for found in variable.captures_iter(&script) {
                let name = &found[1];
                // NF is a word of awk.
                let is_known = given.contains(&name)
                    || ["TRUE_PEERS", "NF"].contains(&name)
                    || adapter.vars.contains_key(name);
                assert!(is_known, "{}: {name}", adapter.name);
            }
        }
    }
}

#[test]
fn the_patterns_of_every_check_can_be_read() {
    for fsck in read().unwrap().into_iter().filter_map(|adapter| adapter.fsck) {
        let FsckScripts { done_regex, repaired_regex, error_regex, degraded_regex, stages, .. } = fsck;
        assert!(!stages.is_empty());
        let patterns = [done_regex, repaired_regex, error_regex, degraded_regex].into_iter().flatten();
        for pattern in patterns.chain(stages.into_iter().map(|stage| stage.regex)) {
            assert!(regex::Regex::new(&pattern).is_ok(), "{pattern}");
        }
    }
}
