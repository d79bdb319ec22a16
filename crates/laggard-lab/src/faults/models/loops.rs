//! Loop devices that are kept while they are unused.

/// A loop device with autoclear disappears with its last user, also when a script is killed between unmounting and
/// mounting. `stays DEVICE 1` clears that flag and `stays DEVICE 0` sets it again: a flag of `struct loop_info64`, which
/// LOOP_GET_STATUS64 and LOOP_SET_STATUS64 read and write.
const STAYS: &str = "
stays() {
    perl -e 'open F, \"<\", $ARGV[0] or die \"$ARGV[0]: $!\\n\"; $i = \"\\0\" x 232; ioctl F, 0x4C05, $i or die \"$!\\n\";
        $f = unpack \"L\", substr $i, 52, 4; substr($i, 52, 4) = pack \"L\", $ARGV[1] ? $f & ~4 : $f | 4;
        ioctl F, 0x4C04, $i or die \"$!\\n\"' \"$1\" \"$2\"
}
";

/// The shell function `stays`, which does nothing for a device without autoclear.
pub(super) fn stays(clears_itself: bool) -> &'static str {
    if clears_itself { STAYS } else { "\nstays() { :; }\n" }
}

/// A shell function that prints 1 for a loop device with autoclear, else 0.
pub(super) const CLEARS: &str = "
clears() { case $1 in /dev/loop*) losetup -nO AUTOCLEAR \"$1\" ;; *) echo 0 ;; esac; }
";
