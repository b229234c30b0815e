//! `user[:group]`, by name or number, as the passwd and group files have them.

use rustix::process::{Gid, Uid};

/// Who a process runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub uid: Uid,
    pub gid: Gid,
}

/// Looks `user[:group]` up; without a group it is the user's own, or root's for a number that passwd does not know.
pub(super) fn resolve(text: &str, passwd: &str, group: &str) -> Result<Identity, String> {
    let (user, named_group) = text.split_once(':').map_or((text, None), |(user, group)| (user, Some(group)));
    let entry = entry(user, passwd);
    let number = |entry: Option<&Vec<&str>>, field: usize| entry.and_then(|fields| fields[field].parse::<u32>().ok());
    let uid = number(entry.as_ref(), 2).or_else(|| user.parse().ok()).ok_or_else(|| format!("this host has no user `{user}`"))?;
    let gid = match named_group {
        None => number(entry.as_ref(), 3).unwrap_or(0),
        Some(name) => group
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.len() > 2 && fields[0] == name)
            .and_then(|fields| fields[2].parse().ok())
            .or_else(|| name.parse().ok())
            .ok_or_else(|| format!("this host has no group `{name}`"))?,
    };
    Ok(Identity { uid: Uid::from_raw(uid), gid: Gid::from_raw(gid) })
}

/// The user's home as passwd has it; `/` for a user that it does not know.
pub(super) fn home<'a>(text: &str, passwd: &'a str) -> &'a str {
    let user = text.split_once(':').map_or(text, |(user, _)| user);
    entry(user, passwd).and_then(|fields| fields.get(5).copied()).filter(|home| !home.is_empty()).unwrap_or("/")
}

/// The fields of a user's line, by name or number.
fn entry<'a>(user: &str, passwd: &'a str) -> Option<Vec<&'a str>> {
    passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.len() > 3 && (fields[0] == user || user.parse::<u32>().is_ok() && fields[2] == user))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nwww:x:33:34::/:/bin/sh\nbroken\n";
        let group = "root:x:0:\nadm:x:4:www\n";
        let table = [
            ("root", Ok((0, 0))),
            ("www", Ok((33, 34))),
            ("33", Ok((33, 34))),
            ("1234", Ok((1234, 0))),
            ("www:adm", Ok((33, 4))),
            ("1234:99", Ok((1234, 99))),
            ("nobody", Err("this host has no user `nobody`".to_owned())),
            ("www:wheel", Err("this host has no group `wheel`".to_owned())),
        ];
        for (text, expected) in table {
            assert_eq!(home(text, passwd), if text == "root" { "/root" } else { "/" }, "{text}");
            assert_eq!(resolve(text, passwd, group).map(|id| (id.uid.as_raw(), id.gid.as_raw())), expected, "{text}");
        }
    }
}
