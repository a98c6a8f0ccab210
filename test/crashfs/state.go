// This file records which bytes in files and names in directories a crash of the disk certainly keeps, and which a
// crash may lose.

package crashfs

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// diskState contains the durable state of the disk and the pending changes.
type diskState struct {
	rootNumber  uint64
	nodes       map[uint64]*inode
	nameChanges []*nameChange // pending changes of names, the oldest first
	pruneSize   int           // number of nodes at which addInode removes unused nodes
}

// inode is a file or directory, whatever its names are.
type inode struct {
	number    uint64
	mode      fs.FileMode
	mod       time.Time
	openCount int               // number of handles that are open
	children  map[string]uint64 // durable names in a directory, with their inodes

	base       []byte    // durable bytes of a file
	isShared   bool      // whether other states share base; then it must be copied before a write
	pendingOps []*dataOp // pending operations, the oldest first, but operations of a failed Sync before all others
}

// dataOp is a pending write or truncation. Its fields never change.
type dataOp struct {
	op       Op     // the operation; its field Off is the offset of a write, or the new length
	data     []byte // bytes of a write (nil for a truncation)
	isFailed bool   // whether a Sync has failed since, so that no later Sync makes the operation durable
}

// nameChange is a pending change of names. A crash keeps or loses it as a whole. Its fields do not change, except that
// unneeded effects are removed, and that isFailed may become true.
type nameChange struct {
	op             Op
	opPart         string // text before the operation in labels, if the change is only a part of it
	effects        []entryEffect
	requiredChange *nameChange // change without which this one is never kept (nil if it needs none)
	isFailed       bool        // whether a SyncDir has failed since, so that no later SyncDir makes the change durable
}

// entryEffect gives a name in a directory a new meaning. The name leads to the inode ino, or to nothing if ino is 0.
type entryEffect struct {
	dirNumber   uint64
	name        string
	inodeNumber uint64
}

func newInode(info fs.FileInfo) *inode {
	n := &inode{number: info.Sys().(uint64), mode: info.Mode(), mod: info.ModTime()}
	if info.IsDir() {
		n.children = make(map[string]uint64)
	}
	return n
}

// newDiskState returns a state in which everything in m is durable.
func newDiskState(m *vfs.Mem) diskState {
	s := diskState{nodes: make(map[uint64]*inode), pruneSize: 64}
	// None of these calls can fail: no other state uses m, and all names are valid.
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var walk func(name string) uint64
	walk = func(name string) uint64 {
		info, err := m.Stat(name)
		check(err)
		if n := s.nodes[info.Sys().(uint64)]; n != nil {
			return n.number
		}
		n := newInode(info)
		s.nodes[n.number] = n
		if n.children == nil {
			n.base, err = vfs.ReadFile(m, name, -1)
			check(err)
			return n.number
		}
		entries, err := m.ReadDir(name)
		check(err)
		for _, e := range entries {
			n.children[e.Name()] = walk(path.Join(name, e.Name()))
		}
		return n.number
	}
	s.rootNumber = walk(".")
	return s
}

// copyState returns a copy of the state. The copies share the bytes of files until one copy is written to.
func (s *diskState) copyState() diskState {
	used := s.reachableInodes()
	c := diskState{rootNumber: s.rootNumber, nodes: make(map[uint64]*inode, len(used)), pruneSize: s.pruneSize}
	for ino := range used {
		n := s.nodes[ino]
		n.isShared = true
		k := *n
		k.openCount = 0
		k.children = maps.Clone(n.children)
		k.base = slices.Clip(n.base)
		k.pendingOps = slices.Clip(n.pendingOps)
		c.nodes[ino] = &k
	}
	copies := make(map[*nameChange]*nameChange, len(s.nameChanges))
	for _, ch := range s.nameChanges {
		k := *ch
		k.effects = slices.Clone(ch.effects)
		k.requiredChange = copies[ch.requiredChange]
		copies[ch] = &k
		c.nameChanges = append(c.nameChanges, &k)
	}
	return c
}

// addInode adds an inode to the state. When there are many inodes, it removes those that no name and no open handle
// reaches.
func (s *diskState) addInode(n *inode) {
	if len(s.nodes) >= s.pruneSize {
		used := s.reachableOrOpen()
		maps.DeleteFunc(s.nodes, func(ino uint64, _ *inode) bool { return !used[ino] })
		s.pruneSize = 2*len(used) + 64
	}
	s.nodes[n.number] = n
}

// reachableInodes returns the inodes that can be reached from the root by names that are durable or pending.
func (s *diskState) reachableInodes() map[uint64]bool { return s.reachableFrom(s.rootNumber) }

// reachableOrOpen returns the inodes that can be reached by names that are durable or pending, either from the root or
// from an open inode. The result contains the open inodes.
func (s *diskState) reachableOrOpen() map[uint64]bool {
	starts := []uint64{s.rootNumber}
	for ino, n := range s.nodes {
		if n.openCount > 0 {
			starts = append(starts, ino)
		}
	}
	return s.reachableFrom(starts...)
}

// reachableFrom returns the inodes in starts, and the inodes that can be reached from them by names that are durable
// or pending.
func (s *diskState) reachableFrom(starts ...uint64) map[uint64]bool {
	pending := make(map[uint64][]uint64)
	for _, c := range s.nameChanges {
		for _, e := range c.effects {
			pending[e.dirNumber] = append(pending[e.dirNumber], e.inodeNumber)
		}
	}
	used := make(map[uint64]bool, len(s.nodes))
	var mark func(ino uint64)
	mark = func(ino uint64) {
		n := s.nodes[ino]
		if n == nil || used[ino] {
			return
		}
		used[ino] = true
		for _, k := range n.children {
			mark(k)
		}
		for _, k := range pending[ino] {
			mark(k)
		}
	}
	for _, ino := range starts {
		mark(ino)
	}
	return used
}

// dropUnreachable removes the changes in directories that nothing reaches any more. No crash can restore such a
// directory, and no process can sync it.
func (s *diskState) dropUnreachable() {
	used := s.reachableInodes()
	s.nameChanges = slices.DeleteFunc(s.nameChanges, func(c *nameChange) bool {
		return !slices.ContainsFunc(c.effects, func(e entryEffect) bool { return used[e.dirNumber] })
	})
}

func (s *diskState) addChange(c *nameChange) { s.nameChanges = append(s.nameChanges, c) }

// touchesDir reports whether the change gives a name in this directory a new meaning.
func (c *nameChange) touchesDir(dir uint64) bool {
	return slices.ContainsFunc(c.effects, func(e entryEffect) bool { return e.dirNumber == dir })
}

// makeDirDurable makes the pending names in a directory durable, except names of a failed SyncDir.
func (s *diskState) makeDirDurable(dir uint64) {
	for _, c := range slices.Clone(s.nameChanges) {
		if c.touchesDir(dir) && !c.isFailed {
			s.makeDurable(c)
		}
	}
	s.dropUnreachable()
}

// failDirSync marks the pending names in a directory after a SyncDir of it has failed.
func (s *diskState) failDirSync(dir uint64) {
	for _, c := range s.nameChanges {
		if c.touchesDir(dir) {
			c.isFailed = true
		}
	}
}

// makeAllDurable makes all pending bytes and names durable, except bytes and names of a failed sync.
func (s *diskState) makeAllDurable() {
	for _, n := range s.nodes {
		n.makeDurable()
	}
	for _, c := range slices.Clone(s.nameChanges) {
		if !c.isFailed {
			s.makeDurable(c)
		}
	}
	s.dropUnreachable()
}

// failAllSyncs marks all pending bytes and names after a sync of the whole disk has failed.
func (s *diskState) failAllSyncs() {
	for _, n := range s.nodes {
		n.failSync()
	}
	for _, c := range s.nameChanges {
		c.isFailed = true
	}
}

// makeDurable makes a change durable. If the change needs another one, that becomes durable first.
func (s *diskState) makeDurable(c *nameChange) {
	i := slices.Index(s.nameChanges, c)
	if i < 0 {
		return
	}
	if c.requiredChange != nil {
		s.makeDurable(c.requiredChange)
		i = slices.Index(s.nameChanges, c)
	}
	for _, e := range c.effects {
		// Earlier changes of the same name no longer matter, because the durable name replaces them.
		for _, old := range s.nameChanges[:i] {
			old.effects = slices.DeleteFunc(old.effects, func(o entryEffect) bool {
				return o.dirNumber == e.dirNumber && o.name == e.name
			})
		}
		s.nodes[e.dirNumber].setDirEntry(e)
	}
	s.nameChanges = slices.DeleteFunc(s.nameChanges, func(o *nameChange) bool { return o == c || len(o.effects) == 0 })
}

// setDirEntry gives a durable name of the directory its new meaning.
func (n *inode) setDirEntry(e entryEffect) {
	if e.inodeNumber == 0 {
		delete(n.children, e.name)
	} else {
		n.children[e.name] = e.inodeNumber
	}
}

// failSync marks the file's pending operations after a failed Sync of the file.
func (n *inode) failSync() {
	for i, op := range n.pendingOps {
		lost := *op
		lost.isFailed = true
		n.pendingOps[i] = &lost
	}
}

// makeDurable makes the pending operations of the file durable. Writes of a failed Sync stay pending, except for the
// bytes that later operations have overwritten. Without an operation after the failed Sync, makeDurable does nothing.
func (n *inode) makeDurable() {
	if len(n.pendingOps) == 0 || n.pendingOps[len(n.pendingOps)-1].isFailed {
		return
	}
	var left []*dataOp
	for _, op := range n.pendingOps {
		if op.isFailed && op.op.Kind == Write {
			left = append(left, op)
			continue
		}
		left = removeOverwritten(left, op)
		if n.isShared && op.op.Off < int64(len(n.base)) {
			n.base, n.isShared = slices.Clone(n.base), false
		}
		n.base = op.applyTo(n.base, opFate{form: fateKept})
	}
	n.pendingOps = left
}

// removeOverwritten returns those parts of the writes that op does not overwrite or cut off.
func removeOverwritten(writes []*dataOp, op *dataOp) []*dataOp {
	var left []*dataOp
	from := op.op.Off
	for _, w := range writes {
		to := from + int64(len(op.data))
		if op.op.Kind == Truncate {
			to = max(from, w.op.Off+int64(len(w.data)))
		}
		left = append(left, w.splitAround(w.op.Off, from)...)
		left = append(left, w.splitAround(to, w.op.Off+int64(len(w.data)))...)
	}
	return left
}

// splitAround returns the part of a write from one file offset to another. It returns nil if the write lacks bytes
// there.
func (op *dataOp) splitAround(from, to int64) []*dataOp {
	from, to = max(from, op.op.Off), min(to, op.op.Off+int64(len(op.data)))
	if from >= to {
		return nil
	}
	part := *op
	part.data = op.data[from-op.op.Off : to-op.op.Off]
	part.op.Off, part.op.Len = from, int(to-from)
	return []*dataOp{&part}
}
