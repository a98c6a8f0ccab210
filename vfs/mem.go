// This file implements a file system in memory.

package vfs

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mem is a file system in memory. It fulfills the contract of [FS]: an open file continues to exist if the name is
// removed or refers to another file. All changes are durable immediately, but only until the process ends. Permissions
// are stored but not enforced. Symbolic links are not supported. Hard links can be created only with [Mem.Link].
//
// By default, each change's file times are a millisecond later than the times of the previous change, so that the same
// calls always have the same results. See [Mem.SetClock].
type Mem struct {
	mu          sync.RWMutex // guards all following fields and all nodes
	root        *memNode
	lastIno     uint64 // the last inode number that was used
	changeCount int64  // number of changes so far, from which the default clock computes the time of a change
	lastTemp    uint64 // the last number that NextTemp returned for the name of a temporary file
	clock       func() time.Time
}

var _ FS = (*Mem)(nil)

// memNode is a file or a directory. It can have several names.
type memNode struct {
	ino          uint64
	mode         fs.FileMode
	modTime      time.Time
	children     map[string]*memNode // entries of the directory (nil for a file)
	data         []byte              // bytes of the file (not used for a directory)
	isDataShared bool                // other files share the bytes in data, so data must be copied before a change
	lockHolder   *memLock            // lock that is held on the file (nil if none)
}

// epoch is the time of the change with the number 0.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{}
	m.root = m.newNode(fs.ModeDir | 0o700)
	return m
}

// SetClock sets the clock of the file system to the function in the parameter now. The file system calls this function
// to get the time of each change. The file system is locked during the call, so the function must not use the file
// system.
func (m *Mem) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = now
}

// NextTemp implements [TempNumberer].
func (m *Mem) NextTemp() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastTemp++
	return m.lastTemp
}

// Clone returns an independent copy of the file system. The inode numbers of the copy are the same. Files that are open
// remain open only in the original m, and the copy holds no locks. The running time is proportional to the number of
// files, because the copy shares contents until they change.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Mem{lastIno: m.lastIno, changeCount: m.changeCount, lastTemp: m.lastTemp, clock: m.clock}
	seen := make(map[*memNode]*memNode)
	var copyNode func(n *memNode) *memNode
	copyNode = func(n *memNode) *memNode {
		if d, ok := seen[n]; ok {
			return d
		}
		d := &memNode{ino: n.ino, mode: n.mode, modTime: n.modTime}
		seen[n] = d
		if n.children != nil {
			d.children = make(map[string]*memNode, len(n.children))
			for name, k := range n.children {
				d.children[name] = copyNode(k)
			}
		} else {
			n.isDataShared = true
			d.data, d.isDataShared = n.data[:len(n.data):len(n.data)], true
		}
		return d
	}
	c.root = copyNode(m.root)
	return c
}

// Put creates a file with the given content and modification time. If a file has the same name, Put replaces it. Put
// also creates missing parent directories. The file system uses data without a copy, so the caller must not change
// data afterwards.
func (m *Mem) Put(name string, data []byte, perm fs.FileMode, mod time.Time) error {
	if err := checkName("put", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if dir := path.Dir(name); dir != "." {
		if err := m.mkdirAll("put", dir, 0o700); err != nil {
			return err
		}
	}
	dir, base, err := m.lookupParent("put", name)
	if err != nil {
		return err
	}
	if n := dir.children[base]; n != nil && n.children != nil {
		return &fs.PathError{Op: "put", Path: name, Err: errIsDir}
	}
	n := m.newNode(perm.Perm())
	n.data = data
	n.isDataShared = true
	n.modTime = mod
	dir.children[base] = n
	dir.modTime = n.modTime
	return nil
}

// Link creates newname as a hard link to oldname. If newname exists, the error matches [fs.ErrExist].
func (m *Mem) Link(oldname, newname string) error {
	refuse := func(err error) error {
		return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookupNode("link", oldname)
	if err != nil {
		return err
	}
	if n.children != nil {
		return refuse(errIsDir)
	}
	if err := checkName("link", newname); err != nil {
		return err
	}
	dir, base, err := m.lookupParent("link", newname)
	if err != nil {
		return err
	}
	if dir.children[base] != nil {
		return refuse(fs.ErrExist)
	}
	dir.children[base] = n
	dir.modTime = m.now()
	return nil
}

// OpenFile implements [FS].
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := checkName("open", name); err != nil {
		return nil, err
	}
	if err := checkFlag(name, flag); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	dir, base, err := m.lookupParent("open", name)
	if err != nil {
		return nil, err
	}
	n := dir.children[base]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n == nil:
		n = m.createFile(dir, base, perm)
	case flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n.children != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	case flag&os.O_TRUNC != 0:
		m.truncate(n, 0)
	}
	return &memFile{m: m, node: n, name: name, flag: flag}, nil
}

// Stat implements [FS].
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.lookupNode("stat", name)
	if err != nil {
		return nil, err
	}
	return n.info(path.Base(name)), nil
}

// ReadDir implements [FS].
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.lookupNode("readdir", name)
	if err != nil {
		return nil, err
	}
	if n.children == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	entries := make([]fs.DirEntry, 0, len(n.children))
	for base, k := range n.children {
		entries = append(entries, fs.FileInfoToDirEntry(k.info(base)))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// MkdirAll implements [FS].
func (m *Mem) MkdirAll(name string, perm fs.FileMode) error {
	if err := checkName("mkdir", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mkdirAll("mkdir", name, perm)
}

func (m *Mem) mkdirAll(op, name string, perm fs.FileMode) error {
	n := m.root
	for part := range nameElements(name) {
		k := n.children[part]
		switch {
		case k == nil:
			k = m.newNode(fs.ModeDir | perm.Perm())
			n.children[part] = k
			n.modTime = k.modTime
		case k.children == nil:
			return &fs.PathError{Op: op, Path: name, Err: errNotDir}
		}
		n = k
	}
	return nil
}

// Rename implements [FS]. It never replaces a directory.
func (m *Mem) Rename(oldname, newname string) error {
	refuse := func(err error) error {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	for _, name := range []string{oldname, newname} {
		if name == "." || checkName("rename", name) != nil {
			return refuse(fs.ErrInvalid)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, oldbase, err := m.lookupParent("rename", oldname)
	if err != nil {
		return err
	}
	n := from.children[oldbase]
	if n == nil {
		return refuse(fs.ErrNotExist)
	}
	to, newbase, err := m.lookupParent("rename", newname)
	if err != nil {
		return err
	}
	old := to.children[newbase]
	switch {
	case old == n:
		return nil // As in POSIX, renaming a file to another of its own names (hard links) does nothing.
	case old != nil && old.children != nil:
		return refuse(fs.ErrExist)
	case old != nil && n.children != nil:
		return refuse(errNotDir)
	case n.children != nil && strings.HasPrefix(newname, oldname+"/"):
		return refuse(fs.ErrInvalid)
	}
	to.children[newbase] = n
	delete(from.children, oldbase)
	to.modTime = m.now()
	from.modTime = to.modTime
	return nil
}

// Remove implements [FS].
func (m *Mem) Remove(name string) error {
	if err := checkName("remove", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "." {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	dir, base, err := m.lookupParent("remove", name)
	if err != nil {
		return err
	}
	switch n := dir.children[base]; {
	case n == nil:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	case len(n.children) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: errNotEmpty}
	}
	delete(dir.children, base)
	dir.modTime = m.now()
	return nil
}

// SyncDir checks that the directory exists. Changes in memory do not need to be synced.
func (m *Mem) SyncDir(name string) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.lookupNode("sync", name)
	if err == nil && n.children == nil {
		err = &fs.PathError{Op: "sync", Path: name, Err: errNotDir}
	}
	return err
}

// lookupNode returns the node with a name. The caller must hold mu.
func (m *Mem) lookupNode(op, name string) (*memNode, error) {
	if err := checkName(op, name); err != nil {
		return nil, err
	}
	if name == "." {
		return m.root, nil
	}
	dir, base, err := m.lookupParent(op, name)
	if err != nil {
		return nil, err
	}
	n := dir.children[base]
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

// lookupParent returns the directory that contains a name, and the last element of the name. The caller must hold mu,
// and must have checked that the name is valid and is not ".".
func (m *Mem) lookupParent(op, name string) (dir *memNode, base string, err error) {
	dir = m.root
	for {
		part, rest, more := strings.Cut(name, "/")
		if !more {
			return dir, part, nil
		}
		k := dir.children[part]
		switch {
		case k == nil:
			return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		case k.children == nil:
			return nil, "", &fs.PathError{Op: op, Path: name, Err: errNotDir}
		}
		dir, name = k, rest
	}
}

// nameElements yields the elements of a valid name. For ".", it yields nothing.
func nameElements(name string) func(yield func(string) bool) {
	if name == "." {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(name, "/")
}

// createFile creates an empty file. The caller must hold mu.
func (m *Mem) createFile(dir *memNode, base string, perm fs.FileMode) *memNode {
	n := m.newNode(perm.Perm())
	dir.children[base] = n
	dir.modTime = n.modTime
	return n
}

// newNode creates a node that does not have a name yet. The caller must hold mu.
func (m *Mem) newNode(mode fs.FileMode) *memNode {
	m.lastIno++
	n := &memNode{ino: m.lastIno, mode: mode, modTime: m.now()}
	if mode.IsDir() {
		n.children = make(map[string]*memNode)
	}
	return n
}

// Now returns the time that a change at this moment would have. The default clock then advances, so that the next
// change has a later time.
func (m *Mem) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now()
}

// now returns the time of the next change. The caller must hold mu.
func (m *Mem) now() time.Time {
	if m.clock != nil {
		return m.clock()
	}
	m.changeCount++
	return epoch.Add(time.Duration(m.changeCount) * time.Millisecond)
}

// Names returns the sorted names of all files and directories except the root. The name of a directory ends with a
// slash.
func (m *Mem) Names() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var names []string
	var walk func(prefix string, n *memNode)
	walk = func(prefix string, n *memNode) {
		for _, base := range slices.Sorted(maps.Keys(n.children)) {
			k := n.children[base]
			if k.children == nil {
				names = append(names, prefix+base)
				continue
			}
			names = append(names, prefix+base+"/")
			walk(prefix+base+"/", k)
		}
	}
	walk("", m.root)
	return names
}

// Each calls fn for each file and directory except the root. A directory precedes its content. Apart from this, the
// files and directories are sorted by name. The data of a directory is nil. The function fn must not change or keep the
// data. It must not use the file system.
func (m *Mem) Each(fn func(name string, info fs.FileInfo, data []byte)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var walk func(prefix string, n *memNode)
	walk = func(prefix string, n *memNode) {
		var few [16]string
		dirs := few[:0]
		for base := range n.children {
			dirs = append(dirs, base)
		}
		slices.Sort(dirs)
		for _, base := range dirs {
			k := n.children[base]
			fn(prefix+base, k.info(base), k.data)
			if k.children != nil {
				walk(prefix+base+"/", k)
			}
		}
	}
	walk("", m.root)
}
