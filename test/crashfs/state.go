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

// state is the part of the disk that matters in a crash.
type state struct {
	root  uint64
	nodes map[uint64]*inode
	names []*change // pending name changes, oldest first
	prune int       // number of nodes from which on unused nodes are dropped
}

// inode is a file or directory, independent of its names.
type inode struct {
	ino  uint64
	mode fs.FileMode
	mod  time.Time
	open int               // number of open handles
	kids map[string]uint64 // durable names of a directory

	base   []byte    // durable bytes of a file
	shared bool      // other states use base too, so it must be copied before writing
	ops    []*dataOp // pending operations, those of a failed Sync first
}

// dataOp is a pending write or truncation. It is immutable.
type dataOp struct {
	op     Op     // Off is the offset of a write or the new length
	data   []byte // bytes of a write
	failed bool   // a Sync failed, so that no later Sync makes it durable
}

// change is a pending change of names that is kept or lost as a whole. It is immutable,
// except that outdated effects are removed.
type change struct {
	op      Op
	part    string // which part of the operation it is, for labels
	effects []effect
	needs   *change // this change is kept only if needs is kept
	failed  bool    // a SyncDir failed, so that no later one makes it durable
}

// effect is a new meaning of a name: the inode ino, or nothing if ino is 0.
type effect struct {
	dir  uint64
	name string
	ino  uint64
}

func newInode(info fs.FileInfo) *inode {
	n := &inode{ino: info.Sys().(uint64), mode: info.Mode(), mod: info.ModTime()}
	if info.IsDir() {
		n.kids = make(map[string]uint64)
	}
	return n
}

// newState returns a state in which all of m is durable.
func newState(m *vfs.Mem) state {
	s := state{nodes: make(map[uint64]*inode), prune: 64}
	// None of these calls can fail, because m belongs to no other state and all names are
	// valid.
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var walk func(name string) uint64
	walk = func(name string) uint64 {
		info, err := m.Stat(name)
		must(err)
		if n := s.nodes[info.Sys().(uint64)]; n != nil {
			return n.ino
		}
		n := newInode(info)
		s.nodes[n.ino] = n
		if n.kids == nil {
			n.base, err = vfs.ReadFile(m, name, -1)
			must(err)
			return n.ino
		}
		entries, err := m.ReadDir(name)
		must(err)
		for _, e := range entries {
			n.kids[e.Name()] = walk(path.Join(name, e.Name()))
		}
		return n.ino
	}
	s.root = walk(".")
	return s
}

// clone copies the state. The copies share bytes until one is overwritten.
func (s *state) clone() state {
	used := s.reachable()
	c := state{root: s.root, nodes: make(map[uint64]*inode, len(used)), prune: s.prune}
	for ino := range used {
		n := s.nodes[ino]
		n.shared = true
		k := *n
		k.open = 0
		k.kids = maps.Clone(n.kids)
		k.base = slices.Clip(n.base)
		k.ops = slices.Clip(n.ops)
		c.nodes[ino] = &k
	}
	copies := make(map[*change]*change, len(s.names))
	for _, ch := range s.names {
		k := *ch
		k.effects = slices.Clone(ch.effects)
		k.needs = copies[ch.needs]
		copies[ch] = &k
		c.names = append(c.names, &k)
	}
	return c
}

// add adds an inode. From time to time it drops inodes without names.
func (s *state) add(n *inode) {
	if len(s.nodes) >= s.prune {
		used := s.reachableOrOpen()
		maps.DeleteFunc(s.nodes, func(ino uint64, _ *inode) bool { return !used[ino] })
		s.prune = 2*len(used) + 64
	}
	s.nodes[n.ino] = n
}

// reachable returns the inodes that durable or pending names reach from the root.
func (s *state) reachable() map[uint64]bool { return s.reachableFrom(s.root) }

// reachableOrOpen returns the inodes that durable or pending names reach from the root or from an
// open inode, including the open inodes.
func (s *state) reachableOrOpen() map[uint64]bool {
	starts := []uint64{s.root}
	for ino, n := range s.nodes {
		if n.open > 0 {
			starts = append(starts, ino)
		}
	}
	return s.reachableFrom(starts...)
}

// reachableFrom returns the given inodes and those that durable or pending names reach from them.
func (s *state) reachableFrom(starts ...uint64) map[uint64]bool {
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
		for _, k := range n.kids {
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

// forget drops changes in directories that are no longer reachable: no crash can restore
// them, and nothing can sync them.
func (s *state) forget() {
	used := s.reachable()
	s.names = slices.DeleteFunc(s.names, func(c *change) bool {
		return !slices.ContainsFunc(c.effects, func(e effect) bool { return used[e.dir] })
	})
}

func (s *state) change(c *change) { s.names = append(s.names, c) }

// touches reports whether the change affects a name in that directory.
func (c *change) touches(dir uint64) bool {
	return slices.ContainsFunc(c.effects, func(e effect) bool { return e.dir == dir })
}

// syncDir makes the names in a directory durable.
func (s *state) syncDir(dir uint64) {
	for _, c := range slices.Clone(s.names) {
		if c.touches(dir) && !c.failed {
			s.keep(c)
		}
	}
	s.forget()
}

// failDir marks the name changes in a directory as failed, after a failed SyncDir.
func (s *state) failDir(dir uint64) {
	for _, c := range s.names {
		if c.touches(dir) {
			c.failed = true
		}
	}
}

// syncAll makes all bytes and names durable.
func (s *state) syncAll() {
	for _, n := range s.nodes {
		n.sync()
	}
	for _, c := range slices.Clone(s.names) {
		if !c.failed {
			s.keep(c)
		}
	}
	s.forget()
}

// failAll marks all pending operations as failed, after a failed sync.
func (s *state) failAll() {
	for _, n := range s.nodes {
		n.fail()
	}
	for _, c := range s.names {
		c.failed = true
	}
}

// keep makes one change durable, after the change that it needs.
func (s *state) keep(c *change) {
	i := slices.Index(s.names, c)
	if i < 0 {
		return
	}
	if c.needs != nil {
		s.keep(c.needs)
		i = slices.Index(s.names, c)
	}
	for _, e := range c.effects {
		// Earlier pending changes of the same name have no effect any more.
		for _, old := range s.names[:i] {
			old.effects = slices.DeleteFunc(old.effects, func(o effect) bool {
				return o.dir == e.dir && o.name == e.name
			})
		}
		s.nodes[e.dir].set(e)
	}
	s.names = slices.DeleteFunc(s.names, func(o *change) bool { return o == c || len(o.effects) == 0 })
}

// set changes a durable name of a directory.
func (n *inode) set(e effect) {
	if e.ino == 0 {
		delete(n.kids, e.name)
	} else {
		n.kids[e.name] = e.ino
	}
}

// fail marks the pending operations as failed, after a failed Sync.
func (n *inode) fail() {
	for i, op := range n.ops {
		lost := *op
		lost.failed = true
		n.ops[i] = &lost
	}
}

// sync makes the pending operations durable, except those of a failed Sync that were not
// overwritten since.
func (n *inode) sync() {
	if len(n.ops) == 0 || n.ops[len(n.ops)-1].failed {
		return
	}
	var left []*dataOp
	for _, op := range n.ops {
		if op.failed && op.op.Kind == Write {
			left = append(left, op)
			continue
		}
		left = overwritten(left, op)
		if n.shared && op.op.Off < int64(len(n.base)) {
			n.base, n.shared = slices.Clone(n.base), false
		}
		n.base = op.apply(n.base, fate{form: kept})
	}
	n.ops = left
}

// overwritten returns the parts of writes that op does not overwrite.
func overwritten(writes []*dataOp, op *dataOp) []*dataOp {
	var left []*dataOp
	from := op.op.Off
	for _, w := range writes {
		to := from + int64(len(op.data))
		if op.op.Kind == Truncate {
			to = max(from, w.op.Off+int64(len(w.data)))
		}
		left = append(left, w.cut(w.op.Off, from)...)
		left = append(left, w.cut(to, w.op.Off+int64(len(w.data)))...)
	}
	return left
}

// cut returns the part of a write between two offsets. The result is empty if there is none.
func (op *dataOp) cut(from, to int64) []*dataOp {
	from, to = max(from, op.op.Off), min(to, op.op.Off+int64(len(op.data)))
	if from >= to {
		return nil
	}
	part := *op
	part.data = op.data[from-op.op.Off : to-op.op.Off]
	part.op.Off, part.op.Len = from, int(to-from)
	return []*dataOp{&part}
}
