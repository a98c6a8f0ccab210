// This file records the durable contents of the disk and the pending changes: bytes of
// inodes, and names in directories.

package crashfs

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// diskState is the part of the disk that matters in a crash.
type diskState struct {
	root  uint64
	nodes map[uint64]*inode
	names []*nameChange // pending name changes, oldest first
	prune int           // number of nodes from which on unused nodes are dropped
}

// inode is a file or directory, independent of its names.
type inode struct {
	number   uint64
	mode     fs.FileMode
	mod      time.Time
	open     int               // number of open handles
	children map[string]uint64 // durable names of a directory

	base     []byte    // durable bytes of a file
	isShared bool      // other states use base too, so it must be copied before writing
	ops      []*dataOp // pending operations, beginning with the operations of a failed Sync
}

// dataOp is a pending write or truncation. It is immutable.
type dataOp struct {
	op       Op     // Off is the offset of a write or the new length
	data     []byte // bytes of a write
	isFailed bool   // a Sync failed, so that no later Sync makes it durable
}

// nameChange is a pending change of names that is kept or lost as a whole. It is immutable,
// except that outdated effects are removed.
type nameChange struct {
	op       Op
	part     string // which part of the operation it is, for labels
	effects  []effect
	needs    *nameChange // this change is kept only if needs is kept
	isFailed bool        // a SyncDir failed, so that no later one makes it durable
}

// effect is a new meaning of a name: the inode ino, or nothing if ino is 0.
type effect struct {
	dir  uint64
	name string
	ino  uint64
}

func newInode(info fs.FileInfo) *inode {
	n := &inode{number: info.Sys().(uint64), mode: info.Mode(), mod: info.ModTime()}
	if info.IsDir() {
		n.children = make(map[string]uint64)
	}
	return n
}

// newState returns a state in which all of m is durable.
func newState(m *vfs.Mem) diskState {
	s := diskState{nodes: make(map[uint64]*inode), prune: 64}
	// None of these calls can fail, because m belongs to no other state and all names are
	// valid.
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
	s.root = walk(".")
	return s
}

// copyState copies the state. The copies share bytes until one is overwritten.
func (s *diskState) copyState() diskState {
	used := s.reachableInodes()
	c := diskState{root: s.root, nodes: make(map[uint64]*inode, len(used)), prune: s.prune}
	for ino := range used {
		n := s.nodes[ino]
		n.isShared = true
		k := *n
		k.open = 0
		k.children = maps.Clone(n.children)
		k.base = slices.Clip(n.base)
		k.ops = slices.Clip(n.ops)
		c.nodes[ino] = &k
	}
	copies := make(map[*nameChange]*nameChange, len(s.names))
	for _, ch := range s.names {
		k := *ch
		k.effects = slices.Clone(ch.effects)
		k.needs = copies[ch.needs]
		copies[ch] = &k
		c.names = append(c.names, &k)
	}
	return c
}

// addInode adds an inode. From time to time it drops inodes without names.
func (s *diskState) addInode(n *inode) {
	if len(s.nodes) >= s.prune {
		used := s.reachableOrOpen()
		maps.DeleteFunc(s.nodes, func(ino uint64, _ *inode) bool { return !used[ino] })
		s.prune = 2*len(used) + 64
	}
	s.nodes[n.number] = n
}

// reachableInodes returns the inodes that durable or pending names reach from the root.
func (s *diskState) reachableInodes() map[uint64]bool { return s.reachableFrom(s.root) }

// reachableOrOpen returns the inodes that durable or pending names reach from the root or from an
// open inode, including the open inodes.
func (s *diskState) reachableOrOpen() map[uint64]bool {
	starts := []uint64{s.root}
	for ino, n := range s.nodes {
		if n.open > 0 {
			starts = append(starts, ino)
		}
	}
	return s.reachableFrom(starts...)
}

// reachableFrom returns the given inodes and those that durable or pending names reach from them.
func (s *diskState) reachableFrom(starts ...uint64) map[uint64]bool {
	pending := make(map[uint64][]uint64)
	for _, c := range s.names {
		for _, e := range c.effects {
			pending[e.dir] = append(pending[e.dir], e.ino)
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

// dropUnreachable drops the changes in directories that are no longer reachable, because no crash
// can restore such a directory and no process can sync it.
func (s *diskState) dropUnreachable() {
	used := s.reachableInodes()
	s.names = slices.DeleteFunc(s.names, func(c *nameChange) bool {
		return !slices.ContainsFunc(c.effects, func(e effect) bool { return used[e.dir] })
	})
}

func (s *diskState) addChange(c *nameChange) { s.names = append(s.names, c) }

// touchesDir reports whether the change affects a name in that directory.
func (c *nameChange) touchesDir(dir uint64) bool {
	return slices.ContainsFunc(c.effects, func(e effect) bool { return e.dir == dir })
}

// syncDir makes the names in a directory durable.
func (s *diskState) syncDir(dir uint64) {
	for _, c := range slices.Clone(s.names) {
		if c.touchesDir(dir) && !c.isFailed {
			s.makeDurable(c)
		}
	}
	s.dropUnreachable()
}

// failDir marks the name changes in a directory as failed, after a failed SyncDir.
func (s *diskState) failDir(dir uint64) {
	for _, c := range s.names {
		if c.touchesDir(dir) {
			c.isFailed = true
		}
	}
}

// syncAll makes all bytes and names durable.
func (s *diskState) syncAll() {
	for _, n := range s.nodes {
		n.makeDurable()
	}
	for _, c := range slices.Clone(s.names) {
		if !c.isFailed {
			s.makeDurable(c)
		}
	}
	s.dropUnreachable()
}

// failAll marks all pending operations as failed, after a failed sync.
func (s *diskState) failAll() {
	for _, n := range s.nodes {
		n.failSync()
	}
	for _, c := range s.names {
		c.isFailed = true
	}
}

// makeDurable makes one change durable, after the change that it needs.
func (s *diskState) makeDurable(c *nameChange) {
	i := slices.Index(s.names, c)
	if i < 0 {
		return
	}
	if c.needs != nil {
		s.makeDurable(c.needs)
		i = slices.Index(s.names, c)
	}
	for _, e := range c.effects {
		// Earlier pending changes of the same name have no effect any more.
		for _, old := range s.names[:i] {
			old.effects = slices.DeleteFunc(old.effects, func(o effect) bool {
				return o.dir == e.dir && o.name == e.name
			})
		}
		s.nodes[e.dir].setEntry(e)
	}
	s.names = slices.DeleteFunc(s.names, func(o *nameChange) bool { return o == c || len(o.effects) == 0 })
}

// setEntry changes a durable name of a directory.
func (n *inode) setEntry(e effect) {
	if e.ino == 0 {
		delete(n.children, e.name)
	} else {
		n.children[e.name] = e.ino
	}
}

// failSync marks the pending operations as failed, after a failed Sync.
func (n *inode) failSync() {
	for i, op := range n.ops {
		lost := *op
		lost.isFailed = true
		n.ops[i] = &lost
	}
}

// makeDurable makes the pending operations durable. The exceptions are operations of a failed Sync,
// unless later writes have overwritten them.
func (n *inode) makeDurable() {
	if len(n.ops) == 0 || n.ops[len(n.ops)-1].isFailed {
		return
	}
	var left []*dataOp
	for _, op := range n.ops {
		if op.isFailed && op.op.Kind == Write {
			left = append(left, op)
			continue
		}
		left = removeOverwritten(left, op)
		if n.isShared && op.op.Off < int64(len(n.base)) {
			n.base, n.isShared = slices.Clone(n.base), false
		}
		n.base = op.applyTo(n.base, writeFate{form: fateKept})
	}
	n.ops = left
}

// removeOverwritten returns the parts of writes that op does not overwrite.
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

// splitAround returns the part of a write between two offsets. The result is empty if there is none.
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
