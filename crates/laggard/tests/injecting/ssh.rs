//! A node that is reached by ssh, the real one: a server of the test's own on this machine, with keys of its own.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::bench::{guards_of, kill_guards, wait_until};
use crate::metadata::hold;
use crate::support::lab::{can_be, turn};
use crate::support::{self, errors, laggard, left_out, text};
use crate::without_lab::{Mount, with_nodes};

const SSHD: &str = "/usr/sbin/sshd";

/// A server, for as long as a test lasts.
struct Server {
    process: Child,
    /// The folder of sshd's privilege separation, which must exist when a client connects.
    has_made_room: bool,
}

const ROOM: &str = "/run/sshd";

impl Server {
    /// Listens on a port of this machine; the names of programs there are looked up in a folder first.
    fn start(folder: &Path, bin: &Path) -> Server {
        let has_made_room = std::fs::create_dir(ROOM).is_ok();
        for name in ["host", "user"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(name));
            assert!(command.status().unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |name: &str| folder.join(name).display().to_string();
        let path = std::env::var("PATH").unwrap();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nSetEnv PATH={}:{path}\n",
            at("host"),
            at("user.pub"),
            text(bin)
        );
        let client = format!(
            "Host n1\n  HostName 127.0.0.1\n  Port {port}\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {}\n  StrictHostKeyChecking yes\n  HostKeyAlias n1\n",
            at("user"),
            at("known")
        );
        let key = std::fs::read_to_string(folder.join("host.pub")).unwrap();
        std::fs::write(folder.join("known"), format!("n1 {key}")).unwrap();
        std::fs::write(folder.join("sshd_config"), server).unwrap();
        std::fs::write(folder.join("ssh_config"), client).unwrap();
        let log = std::fs::File::create(folder.join("sshd.log")).unwrap();
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config"));
        let process = command.stdin(Stdio::null()).stderr(log).spawn().unwrap();
        wait_until("sshd listens", 10, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Server { process, has_made_room }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if self.has_made_room {
            let _ = std::fs::remove_dir(ROOM);
        }
    }
}

#[test]
fn a_fault_over_real_ssh_is_undone_and_is_reverted_there_when_the_controller_is_killed() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    if !Path::new(SSHD).exists() {
        return left_out("no sshd: apt-get install openssh-server");
    }
    let folder = tempfile::tempdir().unwrap();
    let [brick, bin] = ["brick", "bin"].map(|name| folder.path().join(name));
    [&brick, &bin].into_iter().for_each(|part| std::fs::create_dir(part).unwrap());
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_laggard"), bin.join("laggard")).unwrap();
    let _server = Server::start(folder.path(), &bin);
    let mount = Mount::make(&brick);
    (0..20_u8).for_each(|number| std::fs::write(brick.join(number.to_string()), [number; 5000]).unwrap());
    let (undo, there) = (folder.path().join("undo"), folder.path().join("there"));
    let whole =
        |name: &String| std::fs::read(brick.join(name)).unwrap() == [name.parse::<u8>().unwrap(); 5000];
    let is_whole = || support::files(&brick, "").len() == 20 && support::files(&brick, "").iter().all(whole);
    let apply = |words: &[&str]| {
        let command = with_nodes(folder.path(), "ssh:n1", text(&brick), &[&["inconsist"], words].concat());
        let nodes = folder.path().join("nodes.toml");
        let text = std::fs::read_to_string(&nodes).unwrap();
        let config =
            format!("ssh_config = '{}'\nexec = 'ssh:n1'", folder.path().join("ssh_config").display());
        std::fs::write(nodes, text.replace("exec = 'ssh:n1'", &config)).unwrap();
        command
    };

    let output = apply(&[]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(!is_whole() && guards_of(&undo).len() == 1 && !guards_of(&there).is_empty());
    let output = laggard(&["inject", "--undo-folder", text(&undo), "undo", "--all"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(is_whole());
    // The remote guard is informed, and ends.
    wait_until("no guard is left", 10, || guards_of(&undo).is_empty() && guards_of(&there).is_empty());

    let mut controller = hold(apply(&["--wait", "--seed", "2"]));
    assert!(!is_whole());
    kill_guards(&undo);
    controller.kill().unwrap();
    controller.wait().unwrap();
    wait_until("it is reverted there", 20, || guards_of(&there).is_empty() && is_whole());
    drop(mount);
}
