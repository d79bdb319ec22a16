//! The name of a task.

use std::fmt;

/// The name of a task as the kernel stores it: at most 15 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Comm([u8; 16]);

impl Comm {
    /// Stops at the first zero byte and after 15 bytes.
    pub fn new(bytes: &[u8]) -> Comm {
        let mut name = [0; 16];
        for (to, &from) in name.iter_mut().zip(bytes.iter().take(15).take_while(|&&byte| byte != 0)) {
            *to = from;
        }
        Comm(name)
    }

    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// With invalid UTF-8 replaced.
    pub fn to_text(self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_text())
    }
}

impl From<&str> for Comm {
    fn from(name: &str) -> Comm {
        Comm::new(name.as_bytes())
    }
}
