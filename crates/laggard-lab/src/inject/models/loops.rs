//! Loop devices that stay while nobody uses them.

/// A loop device may go with its last user, also when a script is killed between unmounting and mounting. By `stays
/// DEVICE 1` it does not, by `stays DEVICE 0` it does again: a flag of `struct loop_info64`, which LOOP_GET_STATUS64 and
/// LOOP_SET_STATUS64 read and write.
const STAYS: &str = "
stays() {
    perl -e 'open F, \"<\", $ARGV[0] or die \"$ARGV[0]: $!\\n\"; $i = \"\\0\" x 232; ioctl F, 0x4C05, $i or die \"$!\\n\";
        $f = unpack \"L\", substr $i, 52, 4; substr($i, 52, 4) = pack \"L\", $ARGV[1] ? $f & ~4 : $f | 4;
        ioctl F, 0x4C04, $i or die \"$!\\n\"' \"$1\" \"$2\"
}
";

/// A function of the shell that sees to it, where a device would go by itself.
pub fn stays(clears_itself: bool) -> &'static str {
    if clears_itself { STAYS } else { "\nstays() { :; }\n" }
}

/// Prints 1 where `$source` is a loop device that goes by itself, else 0.
pub const CLEARS: &str = "
clears() { case $1 in /dev/loop*) losetup -nO AUTOCLEAR \"$1\" ;; *) echo 0 ;; esac; }
";
