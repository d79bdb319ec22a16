use super::*;

fn bounds(longest_ms: u64, quiet_ms: Option<u64>) -> Bounds {
    Bounds {
        longest: Duration::from_millis(longest_ms),
        quiet: quiet_ms.map(Duration::from_millis),
        term_grace: Duration::from_millis(300),
        kill_grace: Duration::from_secs(5),
    }
}

fn run_sh(script: &str, bounds: Bounds) -> (Ended, String) {
    let (ended, text, _) = timed(script, bounds);
    (ended, text)
}

fn timed(script: &str, bounds: Bounds) -> (Ended, String, Duration) {
    let begin = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let files = Files { stdout: file("out"), stderr: file("err"), evidence: file("stuck") };
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let ended = run(command, &bounds, &files, &|| {}, &|| false).unwrap();
    (ended, std::fs::read_to_string(&files.stdout).unwrap(), begin.elapsed())
}

#[test]
fn a_program_that_ends_is_left_alone() {
    let (ended, said) = run_sh("echo well; exit 3", bounds(10_000, None));
    assert_eq!((ended.code, ended.hang, said.as_str()), (Some(3), None, "well\n"));
}

#[test]
fn a_program_that_sleeps_for_ever_is_terminated() {
    let (ended, _, took) = timed("sleep inf", bounds(200, None));
    assert_eq!((ended.hang, ended.signal), (Some(Hang::Killed), Some(15)));
    assert!(took < Duration::from_secs(5));
}

#[test]
fn one_that_does_not_want_to_end_is_killed_with_all_that_it_started() {
    let mark = format!("31{}", std::process::id());
    let (ended, _) =
        run_sh(&format!("trap '' TERM; sleep {mark} & sleep {mark}; sleep 1"), bounds(200, None));
    assert_eq!((ended.hang, ended.signal), (Some(Hang::Killed), Some(9)));
    assert!(super::super::processes::marked(&mark).is_empty());
}

#[test]
fn processes_that_left_the_group_are_ended_and_daemons_of_a_successful_program_continue() {
    if ScopedCgroup::for_program().is_none() {
        return;
    }
    let mark = format!("32{}", std::process::id());
    let (ended, _) = run_sh(&format!("setsid --fork sleep {mark}; sleep 60"), bounds(500, None));
    assert_eq!(ended.hang, Some(Hang::Killed));
    assert!(super::super::processes::marked(&mark).is_empty());
    let (ended, _) = run_sh(&format!("setsid --fork sleep {mark}"), bounds(10_000, None));
    assert_eq!(ended.code, Some(0));
    let daemons = super::super::processes::marked(&mark);
    daemons.iter().for_each(|daemon| super::super::processes::kill(daemon.number));
    assert_eq!(daemons.len(), 1);
}

#[test]
fn one_that_is_quiet_hangs_and_one_that_talks_does_not() {
    let (ended, _, took) = timed("sleep 30", bounds(60_000, Some(700)));
    assert!(ended.hang.is_some() && took < Duration::from_secs(10));
    let talk = "for n in 1 2 3 4 5 6; do echo $n; sleep 0.3; done";
    let (ended, _) = run_sh(talk, bounds(60_000, Some(1500)));
    assert_eq!((ended.code, ended.hang), (Some(0), None));
}

#[test]
fn a_program_that_the_caller_ends_has_not_hung() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let files = Files { stdout: file("out"), stderr: file("err"), evidence: file("stuck") };
    let mut command = Command::new("sleep");
    command.arg("60");
    let ended = run(command, &bounds(60_000, None), &files, &|| {}, &|| true).unwrap();
    assert_eq!((ended.hang, ended.is_interrupted), (None, true));
}
