// This file records what remains after the disk crashes. For the bytes in files and the names in directories, it
// records which bytes and names certainly remain, and which may be lost.

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
	rootInodeNumber     uint64
	nodes               map[uint64]*inode
	nameChanges         []*nameChange // pending creations, removals and renames of file names, the oldest first
	inodeCountToPruneAt int           // number of inodes at which addInode removes the inodes that are no longer used
}

// inode is a file or directory. It can have several names, or no name.
type inode struct {
	number    uint64
	mode      fs.FileMode
	mod       time.Time
	openCount int               // number of handles that are open
	children  map[string]uint64 // durable names in a directory, with their inodes

	durableBytes          []byte // the bytes of the file that no crash can lose
	hasSharedDurableBytes bool   // other disk states share the slice durableBytes, so copy the slice before changing it
	// Writes and truncations that a crash may lose, oldest first. Operations that a failed Sync should have made
	// durable come before all others.
	pendingOps []*pendingDataOp
}

// pendingDataOp is a pending write or truncation. Its fields never change.
type pendingDataOp struct {
	op   Op     // the operation; its field Off is the offset of a write, or the new length
	data []byte // bytes of a write (nil for a truncation)
	// whether a Sync after this operation has failed, so that no later Sync makes the operation durable
	isFailed bool
}

// nameChange is a change of file names that is not durable yet. A crash keeps or loses the change as a whole. The
// fields do not change, with two exceptions. First, isFailed may become true. Second, a name is removed from
// nameEffects if a later change of this name has become durable.
type nameChange struct {
	op Op
	// If an operation makes several name changes, labelPrefix tells in the label of a lost change which of these
	// changes it is, such as "the new name of ".
	labelPrefix string
	nameEffects []nameEffect
	// another change that a crash must keep if it keeps this change: a rename removes the old name only if the new
	// name exists (may be nil)
	requiredNameChange *nameChange
	// whether a OpSyncDir has failed after this change, so that no later OpSyncDir makes the change durable
	isFailed bool
}

// nameEffect is the effect of a change on one name in a directory. After it, the name leads to the inode inodeNumber,
// or does not exist if inodeNumber is 0.
type nameEffect struct {
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

// newDiskState returns a simulated disk state with the files in m. All bytes and names of these files are durable, so
// that a crash does not lose them.
func newDiskState(m *vfs.Mem) diskState {
	s := diskState{nodes: make(map[uint64]*inode), inodeCountToPruneAt: 64}
	// None of these calls can fail, because no other disk state uses m, and all names are valid.
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
			n.durableBytes, err = vfs.ReadFile(m, name, -1)
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
	s.rootInodeNumber = walk(".")
	return s
}

// copyState returns a copy of the state. Both states share the bytes of a file until one of them writes to the file.
func (s *diskState) copyState() diskState {
	used := s.reachableInodes()
	c := diskState{
		rootInodeNumber:     s.rootInodeNumber,
		nodes:               make(map[uint64]*inode, len(used)),
		inodeCountToPruneAt: s.inodeCountToPruneAt,
	}
	for ino := range used {
		n := s.nodes[ino]
		n.hasSharedDurableBytes = true
		k := *n
		k.openCount = 0
		k.children = maps.Clone(n.children)
		k.durableBytes = slices.Clip(n.durableBytes)
		k.pendingOps = slices.Clip(n.pendingOps)
		c.nodes[ino] = &k
	}
	copies := make(map[*nameChange]*nameChange, len(s.nameChanges))
	for _, ch := range s.nameChanges {
		k := *ch
		k.nameEffects = slices.Clone(ch.nameEffects)
		k.requiredNameChange = copies[ch.requiredNameChange]
		copies[ch] = &k
		c.nameChanges = append(c.nameChanges, &k)
	}
	return c
}

// addInode adds an inode to the state. From time to time, it also removes the inodes that no name and no open file
// leads to.
func (s *diskState) addInode(n *inode) {
	if len(s.nodes) >= s.inodeCountToPruneAt {
		used := s.reachableOrOpenInodes()
		maps.DeleteFunc(s.nodes, func(ino uint64, _ *inode) bool { return !used[ino] })
		s.inodeCountToPruneAt = 2*len(used) + 64
	}
	s.nodes[n.number] = n
}

// reachableInodes returns the inodes that can be reached from the root by names that are durable or pending.
func (s *diskState) reachableInodes() map[uint64]bool { return s.reachableFrom(s.rootInodeNumber) }

// reachableOrOpenInodes returns the inodes of all files and directories that are open or have a path. A path begins at
// the root or at an open directory. A path may also contain names that are not durable yet.
func (s *diskState) reachableOrOpenInodes() map[uint64]bool {
	starts := []uint64{s.rootInodeNumber}
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
		for _, e := range c.nameEffects {
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

// dropUnreachableNameChanges forgets the name changes in directories that no path leads to any more. No crash can
// restore such a directory, and no process can sync it.
func (s *diskState) dropUnreachableNameChanges() {
	used := s.reachableInodes()
	s.nameChanges = slices.DeleteFunc(s.nameChanges, func(c *nameChange) bool {
		return !slices.ContainsFunc(c.nameEffects, func(e nameEffect) bool { return used[e.dirNumber] })
	})
}

func (s *diskState) addChange(c *nameChange) { s.nameChanges = append(s.nameChanges, c) }

// touchesDir reports whether the change creates, removes or replaces a name in the directory with the inode number dir.
func (c *nameChange) touchesDir(dir uint64) bool {
	return slices.ContainsFunc(c.nameEffects, func(e nameEffect) bool { return e.dirNumber == dir })
}

// makeDirDurable makes the changed names in a directory durable, as OpSyncDir does. It leaves out the names for which
// an earlier OpSyncDir has failed.
func (s *diskState) makeDirDurable(dir uint64) {
	for _, c := range slices.Clone(s.nameChanges) {
		if c.touchesDir(dir) && !c.isFailed {
			s.makeDurable(c)
		}
	}
	s.dropUnreachableNameChanges()
}

// failDirSync marks the pending name changes in the directory dir as failed, because a sync of this directory has
// failed. No later sync makes these changes durable.
func (s *diskState) failDirSync(dir uint64) {
	for _, c := range s.nameChanges {
		if c.touchesDir(dir) {
			c.isFailed = true
		}
	}
}

// makeAllDurable makes all pending bytes and names durable, as a sync of the whole disk does. Bytes and names for which
// an earlier sync failed stay pending, because a later sync does not write them again.
func (s *diskState) makeAllDurable() {
	for _, n := range s.nodes {
		n.makeDurable()
	}
	for _, c := range slices.Clone(s.nameChanges) {
		if !c.isFailed {
			s.makeDurable(c)
		}
	}
	s.dropUnreachableNameChanges()
}

// failAllPendingOps is called after a sync of the whole disk has failed. It marks all pending bytes and names as
// failed, so that later syncs do not make them durable.
func (s *diskState) failAllPendingOps() {
	for _, n := range s.nodes {
		n.markPendingOpsFailed()
	}
	for _, c := range s.nameChanges {
		c.isFailed = true
	}
}

// makeDurable makes a change durable. If the change requires another change, makeDurable makes the required change
// durable first. For example, the removal of the old name in a rename requires the new name.
func (s *diskState) makeDurable(c *nameChange) {
	i := slices.Index(s.nameChanges, c)
	if i < 0 {
		return
	}
	if c.requiredNameChange != nil {
		s.makeDurable(c.requiredNameChange)
		i = slices.Index(s.nameChanges, c)
	}
	for _, e := range c.nameEffects {
		// Forget earlier changes of the same name, because no crash can bring back their effects now.
		for _, old := range s.nameChanges[:i] {
			old.nameEffects = slices.DeleteFunc(old.nameEffects, func(o nameEffect) bool {
				return o.dirNumber == e.dirNumber && o.name == e.name
			})
		}
		s.nodes[e.dirNumber].setDirEntry(e)
	}
	s.nameChanges = slices.DeleteFunc(
		s.nameChanges,
		func(o *nameChange) bool { return o == c || len(o.nameEffects) == 0 },
	)
}

// setDirEntry changes one durable name in a directory. Afterwards the name e.name leads to the inode e.inodeNumber. If
// this number is 0, the name is removed.
func (n *inode) setDirEntry(e nameEffect) {
	if e.inodeNumber == 0 {
		delete(n.children, e.name)
	} else {
		n.children[e.name] = e.inodeNumber
	}
}

// markPendingOpsFailed marks the file's pending operations as failed, because a sync of the file has failed. No later
// sync makes these operations durable.
func (n *inode) markPendingOpsFailed() {
	for i, op := range n.pendingOps {
		lost := *op
		lost.isFailed = true
		n.pendingOps[i] = &lost
	}
}

// makeDurable simulates a sync of the file: it makes the pending operations durable, so that a crash cannot lose their
// effects. If all pending operations happened before a failed Sync, makeDurable does nothing.
//
// A pending write that happened before a failed Sync is not made durable, and stays pending. If a later operation has
// overwritten some bytes of such a write, these bytes are removed from the write.
func (n *inode) makeDurable() {
	if len(n.pendingOps) == 0 || n.pendingOps[len(n.pendingOps)-1].isFailed {
		return
	}
	var left []*pendingDataOp
	for _, op := range n.pendingOps {
		if op.isFailed && op.op.Kind == OpWrite {
			left = append(left, op)
			continue
		}
		left = removeOverwrittenParts(left, op)
		if n.hasSharedDurableBytes && op.op.Off < int64(len(n.durableBytes)) {
			n.durableBytes, n.hasSharedDurableBytes = slices.Clone(n.durableBytes), false
		}
		n.durableBytes = op.applyTo(n.durableBytes, crashOutcome{outcomeKind: outcomeOpKept})
	}
	n.pendingOps = left
}

// removeOverwrittenParts returns the writes without the bytes that the later operation op overwrites or cuts off.
func removeOverwrittenParts(writes []*pendingDataOp, op *pendingDataOp) []*pendingDataOp {
	var left []*pendingDataOp
	from := op.op.Off
	for _, w := range writes {
		to := from + int64(len(op.data))
		if op.op.Kind == OpTruncate {
			to = max(from, w.op.Off+int64(len(w.data)))
		}
		left = append(left, w.splitAround(w.op.Off, from)...)
		left = append(left, w.splitAround(to, w.op.Off+int64(len(w.data)))...)
	}
	return left
}

// splitAround returns the part of the write op that lies between two offsets in the file, as a list of at most one
// write. The list is empty if the write has no bytes there.
func (op *pendingDataOp) splitAround(from, to int64) []*pendingDataOp {
	from, to = max(from, op.op.Off), min(to, op.op.Off+int64(len(op.data)))
	if from >= to {
		return nil
	}
	part := *op
	part.data = op.data[from-op.op.Off : to-op.op.Off]
	part.op.Off, part.op.Len = from, int(to-from)
	return []*pendingDataOp{&part}
}
