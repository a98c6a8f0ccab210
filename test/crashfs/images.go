// This file lists the possible contents of the disk after a crash.

package crashfs

import (
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// If at most maxNameChangesForAllSubsets name changes are not durable, every subset of these changes is tried as
	// the lost changes. If the number is larger, only some subsets are tried.
	maxNameChangesForAllSubsets = 6
	// If at most so many writes and truncations are not durable, a crash may lose any subset of them. Otherwise only
	// some subsets are tried.
	maxDataOpsForAllSubsets = 4
	// If many writes are not durable, only the cutOldestWriteCount oldest writes, and the newest ones (see below),
	// are tried with a part of their bytes lost.
	cutOldestWriteCount = 8
	// If many writes are not durable, only so many of the newest are tried with some bytes lost.
	cutNewestWriteCount = 8
)

// EachCrashFileSystem yields the possible contents of the disk if a crash happened now. Each is yielded as a file
// system img, with a label that says which changes are lost. The caller owns img. The disk does not change and may be
// used meanwhile.
//
// A change is pending if a crash may lose it. EachCrashFileSystem tries every subset of the pending changes to names. A
// subset determines which files exist after the crash. For these files, EachCrashFileSystem tries every subset of the
// pending writes and truncations. If there are more than 6 changes of names, or more than 4 writes and truncations, it
// tries only some subsets: no change, all changes, all changes but one, one change, and every prefix.
//
// A part of a write may also reach the disk. EachCrashFileSystem tries each write in three ways:
//
//   - Only its first bytes are in the file, and the file ends after them. The write is cut after byte 1, after every
//     third byte, and before its last byte. A write of more than 256 bytes is cut only within its first and last 64
//     bytes, and at up to 32 boundaries of sectors of 512 bytes.
//   - The file has its full length, but contains none of the bytes of the write.
//   - The file has its full length, but contains only the first or the last bytes of the write. The write is cut at
//     some places and at the boundaries of sectors.
//
// EachCrashFileSystem tries each partial write in three cases: all other writes are kept, all other writes are lost, or
// only the earlier writes are kept. If there are more than 16 writes, only the first 8 and the last 8 writes are cut.
//
// File systems with the same names, permissions and bytes are yielded once, even if their times differ.
func (d *Disk) EachCrashFileSystem(yield func(img *vfs.Mem, label string) bool) {
	d.EachCrashContent(func(im *CrashContent) bool { return yield(im.BuildFileSystem(), im.Label()) })
}

// EachCrashContent yields the possible contents of the disk if a crash happened now. These are the same contents that
// EachCrashFileSystem yields, but EachCrashContent yields each of them as a CrashContent, which only describes the
// content. The files are built only if the caller requests them. This saves time if the caller needs only a few of the
// contents.
func (d *Disk) EachCrashContent(yield func(im *CrashContent) bool) {
	d.mu.Lock()
	s := d.state.copyState()
	d.mu.Unlock()
	e := crashContentEnumerator{
		state: &s, yield: yield,
		seenContentHashes:  make(map[uint64]bool),
		seenFileTreeHashes: make(map[uint64]bool),
		fileHashes:         make(map[string]uint64),
		opDescriptions:     make(map[*pendingDataOp]string),
		fullyWrittenFiles:  make(map[*inode][]byte),
	}
	eachSubset(len(s.nameChanges), maxNameChangesForAllSubsets, func(keep []bool) bool {
		for i, c := range s.nameChanges {
			if !keep[i] || c.requiredNameChange == nil {
				continue
			}
			if j := slices.Index(s.nameChanges, c.requiredNameChange); j >= 0 && !keep[j] {
				return true
			}
		}
		return e.chooseKeptNameChanges(keep)
	})
}

// crashContentEnumerator is the state of one call to EachCrashFileSystem or EachCrashContent, which lists the possible
// contents of the disk after a crash.
type crashContentEnumerator struct {
	state *diskState
	yield func(*CrashContent) bool
	// hashes of the disk contents that were passed to yield, so that none is passed twice
	seenContentHashes  map[uint64]bool
	seenFileTreeHashes map[uint64]bool // hashes of the sets of file names that were tried
	// hash of a file's content after a crash, by the file and the crash's effect on its pending writes
	fileHashes map[string]uint64
	scratch    []byte
	// descriptions of all operations, from which a disk content's label, which names the lost operations, is made
	opDescriptions map[*pendingDataOp]string
	// for each file with a single pending write at its end: the content with that write
	fullyWrittenFiles map[*inode][]byte
	fileHashKey       []byte
	yieldedContent    CrashContent // the description that is passed to yield; it is reused for the next disk content
}

// CrashContent describes one possible content of the disk after a crash. It is valid only until the function to which
// it is passed returns.
type CrashContent struct {
	enumerator        *crashContentEnumerator
	tree              *fileTree
	crashOutcomes     []crashOutcome
	fileContentHashes []uint64 // content hash of each file, in the tree's file order
	contentHash       uint64
}

// treeEntry is a file name on the disk after a crash, with the file or directory to which it leads.
type treeEntry struct {
	name             string
	node             *inode
	hash             uint64 // hash of the name and the file's permissions
	earlierNameIndex int    // index in treeEntries of an earlier name of the same file (-1 if this is its first name)
	fileIndex        int    // index in the files of the tree (-1 for a directory)
}

// fileTree contains all file names of a possible disk content after a crash, and the files to which they lead.
type fileTree struct {
	treeEntries         []treeEntry
	files               []*inode         // the files, in the order of their first names in treeEntries
	dataOps             []*pendingDataOp // writes to the files, and truncations, that a crash may lose, oldest first
	opIndexesByFile     [][]int          // for each file, the indexes of its operations in dataOps
	lostNameChangesText string
}

// chooseKeptNameChanges yields disk contents that are possible after a crash. keptNameChanges says for each pending
// change of file names whether the change survives the crash, and so determines which files exist. For these files,
// chooseKeptNameChanges tries many combinations of lost, kept and partly lost writes. It yields a disk content for
// each.
//
// The result is false if the caller wants no more disk contents. If an earlier call has tried the same set of files,
// the result is true, and nothing is yielded.
func (e *crashContentEnumerator) chooseKeptNameChanges(keptNameChanges []bool) bool {
	t, hash := e.buildTree(keptNameChanges)
	if e.seenFileTreeHashes[hash] {
		return true
	}
	e.seenFileTreeHashes[hash] = true
	fates := make([]crashOutcome, len(t.dataOps))
	set := func(i int, keep bool) {
		fates[i] = crashOutcome{outcomeKind: outcomeOpLost}
		if keep {
			fates[i].outcomeKind = outcomeOpKept
		}
	}
	more := eachSubset(len(t.dataOps), maxDataOpsForAllSubsets, func(keep []bool) bool {
		for i, k := range keep {
			set(i, k)
		}
		return e.yieldCrashContent(&t, fates)
	})
	if !more {
		return false
	}
	for i, op := range t.dataOps {
		if i >= cutOldestWriteCount && i < len(t.dataOps)-cutNewestWriteCount {
			continue
		}
		parts := op.possibleCrashOutcomes()
		for _, others := range [3]func(j int) bool{
			func(int) bool { return true },
			func(int) bool { return false },
			func(j int) bool { return j < i },
		} {
			for j := range fates {
				set(j, others(j))
			}
			for _, f := range parts {
				fates[i] = f
				if !e.yieldCrashContent(&t, fates) {
					return false
				}
			}
		}
	}
	return true
}

// buildTree returns the file names that exist after a crash, and a hash of these names and their files. keptNameChanges
// says for each pending change of file names whether the change survives the crash.
func (e *crashContentEnumerator) buildTree(keptNameChanges []bool) (fileTree, uint64) {
	dirs := make(map[uint64]map[string]uint64)
	var lostNames []string
	for i, c := range e.state.nameChanges {
		if !keptNameChanges[i] {
			lostNames = append(lostNames, "lost "+c.labelPrefix+c.op.String())
			continue
		}
		for _, f := range c.nameEffects {
			if dirs[f.dirNumber] == nil {
				dirs[f.dirNumber] = maps.Clone(e.state.nodes[f.dirNumber].children)
			}
			if f.inodeNumber == 0 {
				delete(dirs[f.dirNumber], f.name)
			} else {
				dirs[f.dirNumber][f.name] = f.inodeNumber
			}
		}
	}
	var t fileTree
	t.lostNameChangesText = strings.Join(lostNames, ", ")
	var hash uint64
	first := make(map[*inode]int)
	var walk func(prefix string, dir *inode)
	walk = func(prefix string, dir *inode) {
		kids := dir.children
		if changed, ok := dirs[dir.number]; ok {
			kids = changed
		}
		for _, base := range slices.Sorted(maps.Keys(kids)) {
			n := e.state.nodes[kids[base]]
			p := treeEntry{name: prefix + base, node: n, earlierNameIndex: -1, fileIndex: -1}
			at, twice := first[n]
			if twice && n.children != nil {
				continue
			}
			p.hash = hashNameAndMode(p.name, n.mode)
			hash = combineHashes(combineHashes(hash, p.hash), n.number)
			switch {
			case twice:
				p.earlierNameIndex = at
				p.fileIndex = t.treeEntries[at].fileIndex
			case n.children == nil:
				p.fileIndex = len(t.files)
				t.files = append(t.files, n)
				t.dataOps = append(t.dataOps, n.pendingOps...)
			}
			if !twice {
				first[n] = len(t.treeEntries)
			}
			t.treeEntries = append(t.treeEntries, p)
			if n.children != nil {
				walk(p.name+"/", n)
			}
		}
	}
	root := e.state.nodes[e.state.rootInodeNumber]
	first[root] = -1
	walk("", root)
	slices.SortStableFunc(t.dataOps, func(a, b *pendingDataOp) int { return a.op.Number - b.op.Number })
	at := make(map[*pendingDataOp]int, len(t.dataOps))
	for i, op := range t.dataOps {
		at[op] = i
	}
	t.opIndexesByFile = make([][]int, len(t.files))
	for i, n := range t.files {
		for _, op := range n.pendingOps {
			t.opIndexesByFile[i] = append(t.opIndexesByFile[i], at[op])
		}
	}
	return t, hash
}

// yieldCrashContent passes a possible disk content after a crash to e.yield, unless an equal content was passed before.
// t contains the names of the files. crashOutcomes says for each pending write whether the write is kept, lost or
// partly lost. The result is false if e.yield returned false, because the caller wants no more disk contents.
func (e *crashContentEnumerator) yieldCrashContent(t *fileTree, crashOutcomes []crashOutcome) bool {
	im := &e.yieldedContent
	im.enumerator = e
	im.tree = t
	im.crashOutcomes = crashOutcomes
	im.fileContentHashes = im.fileContentHashes[:0]
	for i, n := range t.files {
		im.fileContentHashes = append(im.fileContentHashes, e.hashFileContent(n, t.opIndexesByFile[i], crashOutcomes))
	}
	im.contentHash = 0
	im.contentHash = im.HashFiles(nil)
	if e.seenContentHashes[im.contentHash] {
		return true
	}
	e.seenContentHashes[im.contentHash] = true
	return e.yield(im)
}

// HashFiles returns a hash of the described disk content. It equals the result of the function [HashFiles] for this
// content, but is computed without building the content.
func (im *CrashContent) HashFiles(skip func(name string) bool) uint64 {
	if skip == nil && im.contentHash != 0 {
		return im.contentHash
	}
	h := uint64(0)
	for _, p := range im.tree.treeEntries {
		h = combineHashes(h, p.hash)
		isSkipped := skip != nil && skip(p.name)
		if p.fileIndex >= 0 && !isSkipped {
			h = combineHashes(h, im.fileContentHashes[p.fileIndex])
		}
		h = combineHashes(h, uint64(p.earlierNameIndex))
	}
	return h
}

// AnyName reports whether fn returns true for the name of any file on the disk after the crash.
func (im *CrashContent) AnyName(fn func(name string) bool) bool {
	return slices.ContainsFunc(im.tree.treeEntries, func(p treeEntry) bool { return p.fileIndex >= 0 && fn(p.name) })
}

// BuildFileSystem returns a file system with the files and directories of this possible disk content. The caller owns
// the result.
func (im *CrashContent) BuildFileSystem() *vfs.Mem {
	img := vfs.NewMem()
	for _, p := range im.tree.treeEntries {
		var err error
		switch {
		case p.earlierNameIndex >= 0:
			err = img.Link(im.tree.treeEntries[p.earlierNameIndex].name, p.name)
		case p.fileIndex >= 0:
			data := im.enumerator.buildFileContent(nil, p.node, im.tree.opIndexesByFile[p.fileIndex], im.crashOutcomes)
			err = img.Put(p.name, data, p.node.mode, p.node.mod)
		default:
			err = img.MkdirAll(p.name, p.node.mode)
		}
		if err != nil {
			panic(err) // This cannot happen: the names are unique, and each directory comes before its files.
		}
	}
	return img
}

// Label returns a text that says which changes the crash has lost in this disk content.
func (im *CrashContent) Label() string {
	return im.enumerator.describeLostChanges(im.tree, im.crashOutcomes)
}

// hashFileContent returns the hash of the content that the file node has after a crash. crashOutcomes says what the
// crash did to each pending operation of all files. opIndexes contains the positions in crashOutcomes that belong to
// this file.
func (e *crashContentEnumerator) hashFileContent(node *inode, opIndexes []int, crashOutcomes []crashOutcome) uint64 {
	e.fileHashKey = append(
		e.fileHashKey[:0],
		byte(node.number),
		byte(node.number>>8),
		byte(node.number>>16),
		byte(node.number>>24),
	)
	e.fileHashKey = append(
		e.fileHashKey,
		byte(node.number>>32),
		byte(node.number>>40),
		byte(node.number>>48),
		byte(node.number>>56),
	)
	for _, at := range opIndexes {
		f := crashOutcomes[at]
		e.fileHashKey = append(
			e.fileHashKey,
			byte(f.outcomeKind),
			byte(f.cutOffset),
			byte(f.cutOffset>>8),
			byte(f.cutOffset>>16),
			byte(f.cutOffset>>24),
		)
	}
	h, ok := e.fileHashes[string(e.fileHashKey)]
	if !ok {
		h = hashBytes(e.buildFileContent(&e.scratch, node, opIndexes, crashOutcomes))
		e.fileHashes[string(e.fileHashKey)] = h
	}
	return h
}

// buildFileContent returns the content of the file node after a crash. crashOutcomes says what the crash did to each
// pending operation of all files. opIndexes[i] is the position in crashOutcomes that belongs to node.pendingOps[i].
//
// If buffer is not nil, the content may be stored in the buffer, and the next call overwrites it. Other disk contents
// may share the returned slice, so callers must copy the slice before they write to it.
func (e *crashContentEnumerator) buildFileContent(
	buffer *[]byte,
	node *inode,
	opIndexes []int,
	crashOutcomes []crashOutcome,
) []byte {
	if len(node.pendingOps) == 0 {
		return slices.Clip(node.durableBytes)
	}
	// After most crashes, the only write that may be lost is a record that was appended to the file. Whatever record
	// part remains, the file's content is a prefix of the content with the whole record. Therefore all variants share
	// one slice, which is built only once.
	op := node.pendingOps[0]
	isAppend := op.op.Kind == OpWrite && op.op.Off == int64(len(node.durableBytes))
	if len(node.pendingOps) == 1 && isAppend {
		f, old := crashOutcomes[opIndexes[0]], len(node.durableBytes)
		whole, ok := e.fullyWrittenFiles[node]
		if !ok {
			whole = slices.Concat(node.durableBytes, op.data)
			e.fullyWrittenFiles[node] = whole
		}
		switch f.outcomeKind {
		case outcomeOpLost:
			return slices.Clip(node.durableBytes)
		case outcomeOpKept:
			return slices.Clip(whole)
		case outcomeFirstBytesKept:
			return whole[: old+f.cutOffset : old+f.cutOffset]
		}
	}
	size := len(node.durableBytes)
	for _, op := range node.pendingOps {
		size = max(size, int(op.op.Off)+len(op.data))
	}
	// The bytes of the slice data after its length are zeros up to its capacity. Therefore the slice can be extended
	// without clearing the new bytes. A truncation limits the capacity to the new length, because the bytes after it
	// may differ from zero.
	var data []byte
	if buffer == nil {
		data = make([]byte, size)
		data = data[:copy(data, node.durableBytes)]
	} else {
		*buffer = slices.Grow((*buffer)[:0], size)
		data = append(*buffer, node.durableBytes...)
		clear(data[len(data):size])
		data = slices.Clip(data[:size])[:len(data)]
	}
	for i, op := range node.pendingOps {
		f := crashOutcomes[opIndexes[i]]
		if end := op.endOffset(f); int(end) > len(data) && int(end) <= cap(data) {
			data = data[:end]
		}
		data = op.applyTo(data, f)
	}
	return slices.Clip(data)
}

// describeLostChanges returns a text that says which changes a crash has lost. fates says what the crash did to each
// pending write.
func (e *crashContentEnumerator) describeLostChanges(t *fileTree, fates []crashOutcome) string {
	var b strings.Builder
	b.WriteString(t.lostNameChangesText)
	for i, f := range fates {
		if f.outcomeKind == outcomeOpKept {
			continue
		}
		op := t.dataOps[i]
		text, ok := e.opDescriptions[op]
		if !ok {
			text = op.op.String()
			e.opDescriptions[op] = text
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.describe(text))
	}
	if b.Len() == 0 {
		return "all kept"
	}
	return b.String()
}

// eachSubset calls the function yield with subsets of a set of operations. The argument count is the number of
// operations. keep[i] is true if the operation with the index i is in the subset, and false if the operation is lost in
// the crash.
//
// If count is at most limit, eachSubset tries all subsets, from the set of all operations to the empty set. Otherwise
// it tries only these subsets, in this order:
//   - the first k operations, for each k from count to 0
//   - for each operation, the set of all other operations, and then the set with only this operation
//
// Several subsets may lead to the same disk content. In this order, a subset with few lost operations tends to come
// before a subset with many lost operations. eachSubset stops and returns false as soon as yield returns false.
// Otherwise it returns true.
func eachSubset(count, limit int, yield func(keep []bool) bool) bool {
	keep := make([]bool, count)
	fill := func(in func(i int) bool) bool {
		for i := range keep {
			keep[i] = in(i)
		}
		return yield(keep)
	}
	if count <= limit {
		for set := range 1 << count {
			if !fill(func(i int) bool { return set>>i&1 == 0 }) {
				return false
			}
		}
		return true
	}
	for k := count; k >= 0; k-- {
		if !fill(func(i int) bool { return i < k }) {
			return false
		}
	}
	for k := range count {
		if !fill(func(i int) bool { return i != k }) || !fill(func(i int) bool { return i == k }) {
			return false
		}
	}
	return true
}
