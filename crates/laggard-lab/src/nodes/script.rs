//! Shell scripts for nodes, and how they are wrapped.

use std::time::Duration;

/// Runs a script of `$1` bytes from standard input: an argument is limited to 128 KiB. Standard input stays open while
/// the caller lives. When the caller is killed, also on another machine, a script that kept running would disturb the
/// revert: it is killed with all of its group. Uses file descriptor 8.
pub(super) const WATCHED: &str = "
script=$(head -c \"$1\")
exec 8<&0 < /dev/null
{ cat <&8; kill -KILL 0; } > /dev/null 2>&1 9<&- &
watch=$!
(set -e; eval \"$script\") 8<&- 9<&-
status=$?
kill $watch 2> /dev/null
exit $status";

/// Prefixed to [`WATCHED`]: one script at a time. A script that never ends must not block a revert. Uses file descriptor
/// 9, which is closed in everything that is started: a daemon would keep the lock.
pub(super) const IN_TURN: &str = "
exec 9< /run
flock -w 30 9";

/// The longest wait for the turn.
pub(super) const LONGEST_TURN: Duration = Duration::from_secs(30);

/// A word quoted for the shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The first line of a script, for messages.
pub(super) fn first_line(script: &str) -> &str {
    script.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing")
}
