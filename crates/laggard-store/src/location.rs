//! The location of a dataset: a folder, or a prefix of an object store.
//! In: a path or URL. Out: the names and bytes of its files.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};
use url::Url;

use crate::error::StoreError;

/// A folder or prefix.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    Folder(PathBuf),
    Remote(Arc<Remote>),
}

/// A prefix of an object store, and the runtime that waits for it.
pub(crate) struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: object_store::path::Path,
    label: String,
    runtime: tokio::runtime::Runtime,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

const UPLOAD_PART_BYTES: usize = 1 << 20;
const CONCURRENT_UPLOADS: usize = 4;

/// A file's name and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

impl Location {
    /// Parses a path or URL.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let wrong = |what: String| StoreError::Location { location: text.into(), what };
        if !text.contains("://") {
            return Ok(Location::Folder(text.into()));
        }
        let url = Url::parse(text).map_err(|error| wrong(format!("expected a URL: {error}")))?;
        if url.scheme() == "file" {
            let path = url.to_file_path().map_err(|()| wrong("expected file:///an/absolute/path".into()))?;
            return Ok(Location::Folder(path));
        }
        let (store, prefix) = object_store::parse_url_opts(&url, std::env::vars())
            .map_err(|error| wrong(format!("{error}{}", hint(url.scheme()))))?;
        Location::remote(store.into(), prefix, text)
    }

    /// A prefix of a store.
    pub(crate) fn remote(
        store: Arc<dyn ObjectStore>,
        prefix: object_store::path::Path,
        label: &str,
    ) -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::io(label, "start a runtime", error))?;
        Ok(Location::Remote(Arc::new(Remote { store, prefix, label: label.into(), runtime })))
    }

    /// The path of a file, for messages.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match self {
            Location::Folder(folder) => folder.join(name),
            Location::Remote(remote) => Path::new(&remote.label).join(name),
        }
    }

    /// All files, in no order; folders within it are ignored.
    pub(crate) fn list(&self) -> Result<Vec<Listed>, StoreError> {
        match self {
            Location::Folder(folder) => {
                list_folder(folder).map_err(|error| StoreError::io(folder, "list it", error))
            }
            Location::Remote(remote) => remote.list(),
        }
    }

    /// Opens a file for reading.
    pub(crate) fn open(&self, name: &str) -> Result<Source, StoreError> {
        let path = self.path(name);
        match self {
            Location::Folder(_) => {
                let file = File::open(&path).map_err(|error| StoreError::io(&path, "open it", error))?;
                let bytes =
                    file.metadata().map_err(|error| StoreError::io(&path, "read its size", error))?.len();
                Ok(Source { bytes, body: Body::File(Arc::new(file)) })
            }
            Location::Remote(remote) => remote.open(name),
        }
    }

    /// Moves a complete file of this machine to that name, atomically.
    pub(crate) fn publish(&self, file: &Path, name: &str) -> Result<(), StoreError> {
        match self {
            Location::Folder(folder) => publish(file, &folder.join(name)),
            Location::Remote(remote) => {
                let sent = remote.send(file, name);
                sent.map_err(|error| StoreError::io(self.path(name), "send it there", error))
            }
        }
    }

    /// Removes a file; one that is not there is no error.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name);
        let result = match self {
            Location::Folder(_) => std::fs::remove_file(&path),
            Location::Remote(remote) => remote.wait(remote.store.delete(&remote.object(name))),
        };
        match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io(&path, "remove it", error))
            }
            _ => Ok(()),
        }
    }
}

/// Gives a complete file its final name, for good.
pub(crate) fn publish(temporary: &Path, path: &Path) -> Result<(), StoreError> {
    std::fs::rename(temporary, path).map_err(|error| StoreError::io(temporary, "rename it", error))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| StoreError::io(folder, "write it to disk", error))
}

fn hint(scheme: &str) -> &'static str {
    match scheme {
        "s3" | "s3a" | "gs" | "az" | "abfs" | "abfss" if !cfg!(feature = "cloud") => {
            ": this laggard was built without the feature `cloud`"
        }
        _ => "",
    }
}

fn list_folder(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // A dataset may be put together from links.
        match std::fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_file() => all.push(Listed { name, bytes: metadata.len() }),
            // Removed since it was listed, or a folder.
            _ => {}
        }
    }
    Ok(all)
}

impl Remote {
    fn wait<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> io::Result<T> {
        self.runtime.block_on(request).map_err(as_io)
    }

    fn object(&self, name: &str) -> object_store::path::Path {
        // Names are percent-encoded already; parsing takes them as they are.
        let full = format!("{}/{name}", self.prefix);
        object_store::path::Path::parse(full.trim_start_matches('/'))
            .unwrap_or_else(|_| self.prefix.clone().join(name))
    }

    fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let listed = self.wait(self.store.list_with_delimiter(Some(&self.prefix)));
        let listed = listed.map_err(|error| StoreError::io(&self.label, "list it", error))?;
        let file = |object: object_store::ObjectMeta| {
            Some(Listed { name: object.location.as_ref().rsplit('/').next()?.into(), bytes: object.size })
        };
        Ok(listed.objects.into_iter().filter_map(file).collect())
    }

    fn send(&self, file: &Path, name: &str) -> io::Result<()> {
        let object = self.object(name);
        let upload = self.wait(self.store.put_multipart(&object))?;
        let mut upload = WriteMultipart::new(upload);
        let mut file = File::open(file)?;
        let mut bytes = vec![0; UPLOAD_PART_BYTES];
        loop {
            let read = file.read(&mut bytes)?;
            if read == 0 {
                return self.wait(upload.finish()).map(drop);
            }
            upload.write(&bytes[..read]);
            self.wait(upload.wait_for_capacity(CONCURRENT_UPLOADS))?;
        }
    }

    fn open(self: &Arc<Self>, name: &str) -> Result<Source, StoreError> {
        let object = self.object(name);
        let head = self.wait(self.store.head(&object));
        let head =
            head.map_err(|error| StoreError::io(Path::new(&self.label).join(name), "open it", error))?;
        Ok(Source { bytes: head.size, body: Body::Object(self.clone(), object) })
    }
}

fn as_io(error: object_store::Error) -> io::Error {
    match error {
        object_store::Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, error),
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::Error::new(io::ErrorKind::PermissionDenied, error)
        }
        other => io::Error::other(other),
    }
}

/// A file that is open for reading.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    bytes: u64,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    File(Arc<File>),
    Object(Arc<Remote>, object_store::path::Path),
}

impl Source {
    /// How long it was when it was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Some of its bytes.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file is shorter than its metadata states",
            ));
        }
        match &self.body {
            // A store would take an empty range for a mistake.
            _ if range.is_empty() => Ok(Bytes::new()),
            Body::File(file) => {
                let mut bytes = vec![0; (range.end - range.start) as usize];
                file.read_exact_at(&mut bytes, range.start)?;
                Ok(bytes.into())
            }
            Body::Object(remote, object) => remote.wait(remote.store.get_range(object, range)),
        }
    }

    /// Several ranges of it, fetched concurrently from an object store.
    pub(crate) fn read_all(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        match &self.body {
            Body::File(_) => ranges.iter().map(|range| self.read(range.clone())).collect(),
            Body::Object(remote, object) => remote.wait(remote.store.get_ranges(object, ranges)),
        }
    }

    /// Its bytes in order, from `start` on.
    pub(crate) fn stream(&self, start: u64) -> BufReader<Stream> {
        BufReader::with_capacity(256 * 1024, Stream { source: self.clone(), position: start })
    }
}

/// Reads a source from front to back.
#[derive(Debug)]
pub(crate) struct Stream {
    source: Source,
    position: u64,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &self.source.body {
            // Not up to the length at opening: a tail may have grown since.
            Body::File(file) => file.read_at(buffer, self.position)?,
            Body::Object(..) => {
                let end = self.source.bytes.min(self.position + buffer.len() as u64);
                let bytes = self.source.read(self.position.min(end)..end)?;
                buffer[..bytes.len()].copy_from_slice(&bytes);
                bytes.len()
            }
        };
        self.position += read as u64;
        Ok(read)
    }
}
