//! `meta.properties`: to whom a log directory belongs.

use std::path::Path;

use crate::disk::Disk;
use crate::ids::Uuid;
use crate::storage::StorageError;

/// The file's name.
pub const META_PROPERTIES: &str = "meta.properties";

/// To whom a log directory belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaProperties {
    /// `cluster.id`; any text, usually a uuid's.
    pub cluster_id: String,
    /// `node.id`, or `broker.id` in version 0.
    pub node_id: i32,
    /// `directory.id`; absent in directories of early versions.
    pub directory_id: Option<Uuid>,
}

/// Reads `meta.properties` of a log directory; `None` if it has none.
pub fn read_meta(disk: &dyn Disk, dir: &Path) -> Result<Option<MetaProperties>, StorageError> {
    let path = dir.join(META_PROPERTIES);
    if disk.meta(&path).map_err(StorageError::io("look at", &path))?.is_none() {
        return Ok(None);
    }
    let bytes = disk.read(&path).map_err(StorageError::io("read", &path))?;
    let corrupt = |what: String| StorageError::Corrupt { path: path.clone(), what };
    let values = java_properties::read(bytes.as_slice()).map_err(|error| corrupt(error.to_string()))?;
    let required = |key: &str| {
        values.get(key).map(|value| value.trim()).ok_or_else(|| corrupt(format!("{key} is missing")))
    };
    let version = required("version")?;
    let node_key = match version {
        "0" => "broker.id",
        "1" => "node.id",
        other => return Err(corrupt(format!("version {other:?} is not known"))),
    };
    let node_id = required(node_key)?;
    let directory_id = match values.get("directory.id") {
        None => None,
        Some(text) => Some(
            Uuid::parse(text.trim()).ok_or_else(|| corrupt(format!("directory.id {text:?} is not an id")))?,
        ),
    };
    Ok(Some(MetaProperties {
        cluster_id: required("cluster.id")?.to_string(),
        node_id: node_id.parse().map_err(|_| corrupt(format!("{node_key} {node_id:?} is not a number")))?,
        directory_id,
    }))
}

/// Writes `meta.properties`, version 1, atomically and durably.
pub fn write_meta(disk: &dyn Disk, dir: &Path, meta: &MetaProperties) -> Result<(), StorageError> {
    let path = dir.join(META_PROPERTIES);
    let mut text = format!("#\nnode.id={}\n", meta.node_id);
    if let Some(id) = meta.directory_id {
        text += &format!("directory.id={id}\n");
    }
    text += &format!("version=1\ncluster.id={}\n", meta.cluster_id);
    disk.replace(&path, text.as_bytes()).map_err(StorageError::io("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    #[test]
    fn kafkas_file_is_read_and_ours_comes_back() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let root = Path::new("/");
        assert_eq!(read_meta(&disk, root).unwrap(), None);
        let kafkas = "#\n#Sun Nov 29 16:43:26 UTC 2026\nnode.id=1\ndirectory.id=fPY7iHb3d4TVwGbJLDoAhA\n\
                      version=1\ncluster.id=fmpQupCHQXuvz50YsURKPw\n";
        disk.replace(&root.join(META_PROPERTIES), kafkas.as_bytes()).unwrap();
        let meta = read_meta(&disk, root).unwrap().unwrap();
        assert_eq!((meta.node_id, meta.cluster_id.as_str()), (1, "fmpQupCHQXuvz50YsURKPw"));
        assert_eq!(meta.directory_id, Uuid::parse("fPY7iHb3d4TVwGbJLDoAhA"));
        write_meta(&disk, root, &meta).unwrap();
        assert_eq!(read_meta(&disk, root).unwrap(), Some(meta));
        for bad in [
            "version=2\nnode.id=1\ncluster.id=a",
            "version=1\ncluster.id=a",
            "version=1\nnode.id=x\ncluster.id=a",
        ] {
            disk.replace(&root.join(META_PROPERTIES), bad.as_bytes()).unwrap();
            assert!(matches!(read_meta(&disk, root), Err(StorageError::Corrupt { .. })), "{bad:?}");
        }
    }
}
