//! Limits of the memory of a process, as Linux says them in files. Elsewhere there are none, and nothing is known.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// From here on version 1 of control groups means no limit.
const UNLIMITED: u64 = 1 << 62;

/// The least of all limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Limits {
    /// Bytes in all.
    pub(super) total: Option<u64>,
    /// Bytes that may still be taken.
    pub(super) available: Option<u64>,
}

impl Limits {
    /// Of this process, by the files of the system whose root folder is given.
    pub(super) fn read(root: &Path) -> Self {
        let mut all = Self::default();
        all.machine(root);
        all.process(root);
        all.groups(root);
        all
    }

    fn at_most(&mut self, total: u64, available: u64) {
        let least = |known: &mut Option<u64>, new: u64| *known = Some(known.map_or(new, |known| known.min(new)));
        least(&mut self.total, total);
        least(&mut self.available, available);
    }

    fn machine(&mut self, root: &Path) {
        let Some(all) = text(&root.join("proc/meminfo")) else { return };
        if let (Some(total), Some(available)) = (kib(&all, "MemTotal:"), kib(&all, "MemAvailable:")) {
            self.at_most(total, available);
        }
    }

    /// Addresses, and private memory, that this process may still take.
    pub(super) fn own(root: &Path) -> [Option<u64>; 2] {
        own(root).map(|(limit, used)| Some(limit?.saturating_sub(used?)))
    }

    /// Limits on the process' addresses, and on its private memory.
    fn process(&mut self, root: &Path) {
        for (limit, used) in own(root) {
            if let (Some(limit), Some(used)) = (limit, used) {
                self.at_most(limit, limit.saturating_sub(used));
            }
        }
    }

    /// Limits of its control groups, and of those that these are in.
    fn groups(&mut self, root: &Path) {
        let (Some(own), Some(mounts)) = (text(&root.join("proc/self/cgroup")), text(&root.join("proc/self/mountinfo"))) else { return };
        for mount in mounts.lines().filter_map(|line| Mount::of(line, &own)) {
            let top = below(root, &mount.point);
            let folder = below(&top, &mount.group);
            for folder in folder.ancestors().take_while(|folder| folder.starts_with(&top)) {
                if let Some((limit, used)) = mount.version.usage(folder) {
                    self.at_most(limit, limit.saturating_sub(used));
                }
            }
        }
    }
}

/// Limits on addresses and on private memory of this process, where there are any, each with what is used of it.
fn own(root: &Path) -> [(Option<u64>, Option<u64>); 2] {
    let read = |file: &str| text(&root.join(file)).unwrap_or_default();
    let (limits, status) = (read("proc/self/limits"), read("proc/self/status"));
    [("Max address space", "VmSize:"), ("Max data size", "VmData:")].map(|(limit, used)| (number(&limits, limit), kib(&status, used)))
}

/// A hierarchy of control groups that limits memory, where it is mounted, and the process' group in it.
struct Mount {
    version: Version,
    point: PathBuf,
    /// From the mount point on.
    group: PathBuf,
}

impl Mount {
    /// Of a line of `mountinfo`, with the lines that name the process' groups.
    fn of(line: &str, own: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let (mut place, mut kind) = (place.split(' ').skip(3), kind.split(' '));
        let (shown, point) = (place.next()?, place.next()?);
        let version = match (kind.next()?, kind.nth(1)?) {
            ("cgroup2", _) => Version::Two,
            ("cgroup", options) if options.split(',').any(|o| o == "memory") => Version::One,
            _ => return None,
        };
        let mine = |line: &str| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(':')?;
            let is = match version {
                Version::Two => controllers.is_empty(),
                Version::One => controllers.split(',').any(|c| c == "memory"),
            };
            is.then(|| path.to_owned())
        };
        let group = own.lines().find_map(mine)?;
        // In a container a part of the hierarchy is mounted, and a group outside of that part cannot be seen.
        let group = Path::new(&group).strip_prefix(shown).map(Path::to_owned).unwrap_or_default();
        let inside = !group.components().any(|c| c == Component::ParentDir);
        Some(Self { version, point: point.into(), group: if inside { group } else { PathBuf::new() } })
    }
}

#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

impl Version {
    /// A group's limit, and how much of it is used. Files that are cached are no use: the system drops them where memory is needed.
    fn usage(self, folder: &Path) -> Option<(u64, u64)> {
        let value = |name: &str| text(&folder.join(name))?.trim().parse::<u64>().ok();
        let (limit, used, cached) = match self {
            // Above `high` a process is not ended, but hardly goes on.
            Self::Two => {
                let limit = value("memory.max").into_iter().chain(value("memory.high")).min();
                (limit?, value("memory.current")?, ["inactive_file", "active_file"])
            }
            Self::One => {
                let limit = value("memory.limit_in_bytes").filter(|&limit| limit < UNLIMITED);
                (limit?, value("memory.usage_in_bytes")?, ["total_inactive_file", "total_active_file"])
            }
        };
        let stat = text(&folder.join("memory.stat")).unwrap_or_default();
        let cached: u64 = cached.into_iter().filter_map(|name| number(&stat, name)).sum();
        Some((limit, used.saturating_sub(cached)))
    }
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// An absolute path below a folder.
fn below(folder: &Path, path: &Path) -> PathBuf {
    folder.join(path.strip_prefix("/").unwrap_or(path))
}

/// The number behind a name at the start of a line.
fn number(all: &str, name: &str) -> Option<u64> {
    let behind = |line: &str| line.strip_prefix(name)?.strip_prefix([' ', '\t'])?.split_whitespace().next()?.parse().ok();
    all.lines().find_map(behind)
}

fn kib(all: &str, name: &str) -> Option<u64> {
    number(all, name)?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A system of these files: a machine of 8 GiB of which 6 are left, and whatever else is said.
    fn read(files: &[(&str, &str)]) -> Limits {
        Limits::read(system(files).path())
    }

    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let machine = [("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:   1 kB\nMemAvailable:    6291456 kB\n")];
        for (name, content) in machine.iter().chain(files) {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, content).expect("a file");
        }
        root
    }

    fn of(total: u64, available: u64) -> Limits {
        Limits { total: Some(total * MIB), available: Some(available * MIB) }
    }

    const V2: (&str, &str) = (
        "proc/self/mountinfo",
        "25 30 0:23 / /sys rw - sysfs sysfs rw\n31 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
    );

    #[test]
    fn without_other_limits_it_is_what_the_machine_has() {
        assert_eq!(read(&[]), of(8192, 6144));
        assert_eq!(Limits::read(Path::new("/nowhere")), Limits::default());
        let none =
            [V2, ("proc/self/cgroup", "0::/a\n"), ("sys/fs/cgroup/a/memory.max", "max\n"), ("sys/fs/cgroup/a/memory.current", "5\n")];
        assert_eq!(read(&none), of(8192, 6144));
    }

    #[test]
    fn groups_of_version_2_count_up_to_the_root_without_cached_files() {
        let mut files = vec![
            V2,
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user/job/memory.high", "max\n"),
            ("sys/fs/cgroup/user/job/memory.current", "104857600\n"),
            ("sys/fs/cgroup/user/memory.max", "209715200\n"),
            ("sys/fs/cgroup/user/memory.current", "157286400\n"),
            ("sys/fs/cgroup/user/memory.stat", "anon 1\nfile 99999999\ninactive_file 83886080\nactive_file 20971520\n"),
        ];
        assert_eq!(read(&files), of(200, 150));
        files.push(("sys/fs/cgroup/user/job/memory.high", "125829120"));
        assert_eq!(read(&files), of(120, 20));
        // A group that is full has nothing left.
        files.push(("sys/fs/cgroup/user/job/memory.current", "125829121"));
        assert_eq!(read(&files), of(120, 0));
    }

    #[test]
    fn groups_of_version_1_count_beside_other_controllers() {
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", "8:pids:/\n4:memory:/docker/job\n0::/\n"),
            ("sys/fs/cgroup/memory/docker/job/memory.limit_in_bytes", "209715200\n"),
            ("sys/fs/cgroup/memory/docker/job/memory.usage_in_bytes", "209715200\n"),
            ("sys/fs/cgroup/memory/docker/job/memory.stat", "inactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 0\n"),
            ("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "209715200\n"),
        ];
        assert_eq!(read(&files), of(200, 100));
    }

    #[test]
    fn in_a_container_the_mounted_part_is_looked_at() {
        // The group's own path is that of the host, of which the container sees its own part, or a path outside of what it sees.
        for (shown, own) in [("/docker/1", "/docker/1"), ("/docker/1", "/docker/1/."), ("/", "/../2"), ("/docker/1", "/elsewhere")] {
            let mounts = format!("31 25 0:28 {shown} /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
            let own = format!("0::{own}\n");
            let files = [
                ("proc/self/mountinfo", mounts.as_str()),
                ("proc/self/cgroup", own.as_str()),
                ("sys/fs/cgroup/memory.max", "209715200\n"),
                ("sys/fs/cgroup/memory.current", "104857600\n"),
            ];
            assert_eq!(read(&files), of(200, 100), "{shown} {own}");
        }
    }

    #[test]
    fn limits_of_the_process_count() {
        let limits = |space: &str, data: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \nMax data size             {data}   unlimited            bytes     \nMax address space         {space}            unlimited            bytes     \n"
            )
        };
        let status = ("proc/self/status", "Name:\tisowarp\nVmPeak:\t  900000 kB\nVmSize:\t  102400 kB\nVmData:\t   51200 kB\n");
        let with = |space: &str, data: &str| read(&[status, ("proc/self/limits", &limits(space, data))]);
        assert_eq!(with("unlimited", "unlimited"), of(8192, 6144));
        assert_eq!(with("209715200", "unlimited"), of(200, 100));
        assert_eq!(with("unlimited", "209715200"), of(200, 150));
        assert_eq!(with("104857600", "209715200"), of(100, 0));
        let own = |space: &str| Limits::own(system(&[status, ("proc/self/limits", &limits(space, "104857600"))]).path());
        let data = Some(50 * MIB);
        assert_eq!(["unlimited", "209715200", "104857600"].map(own), [[None, data], [Some(100 * MIB), data], [Some(0), data]]);
        assert_eq!(Limits::own(system(&[]).path()), [None; 2]);
    }
}
