//! A GlusterFS with one brick in its own namespaces.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Stopped on drop. Everything but the brick is inside the namespaces.
pub(crate) struct Gluster {
    holder: Child,
}

const SCRIPT: &str = r#"
mount -t tmpfs tmpfs /run
mkdir -p /run/lib /run/log /run/mnt /run/gluster
mount --bind /run/lib /var/lib/glusterd
mount --bind /run/log /var/log/glusterfs
ip link set lo up
ip addr add 198.18.0.1/32 dev lo
glusterd --log-level WARNING
until gluster --mode=script pool list >/dev/null 2>&1; do sleep 0.1; done
gluster --mode=script volume create v1 transport tcp "198.18.0.1:$1/brick" force
gluster --mode=script volume set v1 performance.write-behind off
gluster --mode=script volume start v1
mount -t glusterfs 198.18.0.1:/v1 /run/mnt
touch "$1/ready"
read -r _ || true
"#;

impl Gluster {
    pub(crate) fn start(folder: &Path) -> Gluster {
        let mut command = super::support::apart();
        command.args(["sh", "-euc", SCRIPT, "sh"]).arg(folder);
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let twin = log.try_clone().unwrap();
        let holder = command.stdin(Stdio::piped()).stdout(log).stderr(twin).spawn().unwrap();
        let mut gluster = Gluster { holder };
        let begin = Instant::now();
        while !folder.join("ready").exists() {
            let printed = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(gluster.holder.try_wait().unwrap().is_none(), "GlusterFS did not come up: {}", printed());
            assert!(begin.elapsed() < Duration::from_secs(120), "GlusterFS did not come up: {}", printed());
            std::thread::sleep(Duration::from_millis(50));
        }
        gluster
    }

    /// The first process inside.
    fn first(&self) -> u32 {
        let number = self.holder.id();
        let list = std::fs::read_to_string(format!("/proc/{number}/task/{number}/children")).unwrap();
        list.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The mount, seen from outside.
    pub(crate) fn mount(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/run/mnt", self.first()))
    }

    /// The process of its brick; other processes of that name may run on this host.
    pub(crate) fn brick(&self) -> u32 {
        let network = |number: u32| std::fs::read_link(format!("/proc/{number}/ns/net")).ok();
        let own = network(self.first());
        let names = super::support::files(Path::new("/proc"), "");
        let mut numbers = names.iter().filter_map(|name| name.parse::<u32>().ok());
        let is_brick = |number: &u32| {
            let comm = std::fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
            comm.trim_end() == "glusterfsd" && network(*number) == own
        };
        numbers.find(is_brick).unwrap()
    }

    /// The words of a command line inside.
    pub(crate) fn inside(&self, words: &[&str]) -> Vec<String> {
        let target = format!("--target={}", self.first());
        let entering = ["nsenter", &target, "--mount", "--net", "--pid", "--"];
        entering.iter().chain(words).map(|word| (*word).to_owned()).collect()
    }

    pub(crate) fn set(&self, option: &str, value: &str) {
        let words = self.inside(&["gluster", "--mode=script", "volume", "set", "v1", option, value]);
        let output = Command::new(&words[0]).args(&words[1..]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

impl Drop for Gluster {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
