//! A disk that is a file in another file system.

use std::io::Write;
use std::path::PathBuf;

use crate::bench::{guards_of, kill_guards, wait_until};
use crate::metadata::hold;
use crate::support::lab::{can_be, turn};
use crate::support::{errors, laggard, text};
use crate::without_lab::{Mount, with_nodes};

/// A small file system, and in it a disk with a brick.
struct Nest {
    folder: tempfile::TempDir,
    brick: PathBuf,
    // In the order in which they are unmounted.
    inner: Mount,
    outer: Mount,
}

impl Nest {
    fn make(kind: &str) -> Nest {
        let folder = tempfile::tempdir().unwrap();
        let [outer, brick] = ["outer fs", "brick"].map(|name| folder.path().join(name));
        [&outer, &brick].into_iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let outside = Mount::disk_of(&outer, &folder.path().join("image"), kind, "700M");
        let inside = Mount::disk(&brick, &outer.join("inner image"), kind);
        std::fs::write(brick.join("file"), "data").unwrap();
        rustix::fs::syncfs(std::fs::File::open(&brick).unwrap()).unwrap();
        Nest { folder, brick, inner: inside, outer: outside }
    }

    fn apply(&self, more: &[&str]) -> std::process::Command {
        let words = [&["dev-fail", "--param", "mechanism=nested-loop"], more].concat();
        with_nodes(self.folder.path(), "local", text(&self.brick), &words)
    }

    fn is_dead(&self) {
        // A write to the page cache still succeeds.
        let write = || {
            let mut file = std::fs::File::create(self.brick.join("other"))?;
            file.write_all(b"data")?;
            file.sync_all()
        };
        let error: std::io::Error = write().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()));
        let device = self.inner.source();
        let words =
            ["if=".to_owned() + &device, "of=/dev/null".into(), "count=8".into(), "iflag=direct".into()];
        let output = std::process::Command::new("dd").args(words).output().unwrap();
        assert!(errors(&output).contains("Input/output error"), "{}", errors(&output));
    }

    fn is_healthy(&self, options: &[String]) {
        assert_eq!(std::fs::read_to_string(self.brick.join("file")).unwrap(), "data");
        assert_eq!([self.outer.options(), self.inner.options()], options);
        for mount in [&self.outer, &self.inner] {
            let clears = format!("/sys/block/{}/loop/autoclear", mount.source().trim_start_matches("/dev/"));
            assert_eq!(std::fs::read_to_string(clears).unwrap(), "1\n");
        }
    }
}

#[test]
fn a_disk_in_a_file_system_that_shuts_down_fails_and_comes_back() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    for kind in ["ext4", "xfs"] {
        let nest = Nest::make(kind);
        let options = [nest.outer.options(), nest.inner.options()];
        let undo = nest.folder.path().join("undo");
        let refused = errors(&nest.apply(&[]).output().unwrap());
        assert!(refused.contains("outer fs/.laggard-target is missing"), "{refused}");
        std::fs::write(nest.folder.path().join("outer fs/.laggard-target"), "").unwrap();
        rustix::fs::syncfs(std::fs::File::open(nest.folder.path().join("outer fs")).unwrap()).unwrap();
        let output = nest.apply(&[]).output().unwrap();
        assert!(output.status.success(), "{kind}: {}", errors(&output));
        nest.is_dead();
        let output = laggard(&["inject", "--undo-folder", text(&undo), "undo", "--all"]);
        assert!(output.status.success(), "{kind}: {}", errors(&output));
        nest.is_healthy(&options);
        wait_until("no guard is left", 10, || guards_of(&undo).is_empty());
        // The controller is killed; then the guard is, too.
        let mut controller = hold(nest.apply(&["--wait"]));
        nest.is_dead();
        controller.kill().unwrap();
        controller.wait().unwrap();
        wait_until("the guard reverts it", 20, || guards_of(&undo).is_empty());
        nest.is_healthy(&options);
        let mut controller = hold(nest.apply(&["--wait"]));
        kill_guards(&undo);
        controller.kill().unwrap();
        controller.wait().unwrap();
        let output = laggard(&["inject", "--undo-folder", text(&undo), "recover"]);
        assert!(output.status.success(), "{kind}: {}", errors(&output));
        nest.is_healthy(&options);
    }
}
