// This file enumerates the possible contents of the disk after a crash.

package crashfs

import (
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	allNames  = 6 // up to this many pending name changes, every subset is tried
	allData   = 4 // the same for writes and truncations
	tornFirst = 8 // number of pending writes at the beginning that are tried in parts, if there are many
	tornLast  = 8 // the same at the end
)

// EachImage yields the possible contents of the disk after a crash at this moment, each with a label that describes
// the losses. The disk is not changed and may be used meanwhile. The caller owns each image.
//
// A change is pending if it may be lost. EachImage tries every subset of the pending changes to names. For each
// subset, it takes the files that then have a name, and tries every subset of the pending writes and truncations in
// these files. If there are more than 6 changes to names, or more than 4 writes and truncations, it tries only some
// subsets: none, all, all but a single change, a single change, and every prefix.
//
// A write may also reach the disk in part. EachImage tries each write in three ways:
//
//   - Only its first bytes are in the file, which ends there. The write is cut after byte 1, after
//     every third byte, and before its last byte. A write of more than 256 bytes is cut only within
//     its first and last 64 bytes, and at up to 32 boundaries of sectors of 512 bytes.
//   - The file has its full length, but none of the bytes.
//   - The file has its full length, but only the first or the last bytes. The write is cut at some
//     places and at the boundaries of sectors.
//
// Meanwhile, all other writes are kept, all are lost, or those before this write are kept. If there are more than 16
// writes, only the first 8 and the last 8 are tried in this way.
//
// Images with the same names, permissions and bytes are yielded once, even if their times differ.
func (d *Disk) EachImage(yield func(img *vfs.Mem, label string) bool) {
	d.EachSketch(func(im *Sketch) bool { return yield(im.Mem(), im.Label()) })
}

// EachSketch is like EachImage, but builds an image only if the caller requests the image. Use it
// if you need only a few images.
func (d *Disk) EachSketch(yield func(im *Sketch) bool) {
	d.mu.Lock()
	s := d.state.copyState()
	d.mu.Unlock()
	e := imageEnumerator{
		state: &s, yield: yield,
		seenSums: make(map[uint64]bool),
		trees:    make(map[uint64]bool),
		hashes:   make(map[string]uint64),
		texts:    make(map[*dataOp]string),
		wholes:   make(map[*inode][]byte),
	}
	eachSubset(len(s.names), allNames, func(keep []bool) bool {
		for i, c := range s.names {
			if !keep[i] || c.needs == nil {
				continue
			}
			if j := slices.Index(s.names, c.needs); j >= 0 && !keep[j] {
				return true
			}
		}
		return e.chooseNames(keep)
	})
}

// imageEnumerator is the state of one EachImage or EachSketch call.
type imageEnumerator struct {
	state    *diskState
	yield    func(*Sketch) bool
	seenSums map[uint64]bool   // hashes of the images so far
	trees    map[uint64]bool   // hashes of the name trees so far
	hashes   map[string]uint64 // hashes of file contents, by inode and fates
	scratch  []byte
	texts    map[*dataOp]string // descriptions of operations
	wholes   map[*inode][]byte  // contents of files with a single pending write
	key      []byte
	sketch   Sketch // the sketch that is being yielded
}

// Sketch describes one possible content of the disk. The receiving function must not use a Sketch
// after it has returned.
type Sketch struct {
	enumerator *imageEnumerator
	tree       *fileTree
	fates      []writeFate
	files      []uint64 // hash of each file's content
	sum        uint64
}

// treePlace is a name in an image.
type treePlace struct {
	name string
	node *inode
	hash uint64 // hash of the name and the permissions
	link int    // index of an earlier place with the same file, or -1
	file int    // index into the tree's files, or -1 for a directory
}

// fileTree contains the names of an image.
type fileTree struct {
	places []treePlace
	files  []*inode  // in the order of places
	ops    []*dataOp // pending operations on these files, oldest first
	index  [][]int   // indexes into ops, for each file
	label  string
}

// chooseNames tries one subset of the name changes with all possible fates of the pending bytes.
func (e *imageEnumerator) chooseNames(keep []bool) bool {
	t, hash := e.buildTree(keep)
	if e.trees[hash] {
		return true
	}
	e.trees[hash] = true
	fates := make([]writeFate, len(t.ops))
	set := func(i int, keep bool) {
		fates[i] = writeFate{form: fateLost}
		if keep {
			fates[i].form = fateKept
		}
	}
	more := eachSubset(len(t.ops), allData, func(keep []bool) bool {
		for i, k := range keep {
			set(i, k)
		}
		return e.yieldImage(&t, fates)
	})
	if !more {
		return false
	}
	for i, op := range t.ops {
		if i >= tornFirst && i < len(t.ops)-tornLast {
			continue
		}
		parts := op.possibleFates()
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
				if !e.yieldImage(&t, fates) {
					return false
				}
			}
		}
	}
	return true
}

// buildTree builds the names that remain, and a hash of their files and directories.
func (e *imageEnumerator) buildTree(keep []bool) (fileTree, uint64) {
	dirs := make(map[uint64]map[string]uint64)
	var lostNames []string
	for i, c := range e.state.names {
		if !keep[i] {
			lostNames = append(lostNames, "lost "+c.part+c.op.String())
			continue
		}
		for _, f := range c.effects {
			if dirs[f.dir] == nil {
				dirs[f.dir] = maps.Clone(e.state.nodes[f.dir].children)
			}
			if f.ino == 0 {
				delete(dirs[f.dir], f.name)
			} else {
				dirs[f.dir][f.name] = f.ino
			}
		}
	}
	var t fileTree
	t.label = strings.Join(lostNames, ", ")
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
			p := treePlace{name: prefix + base, node: n, link: -1, file: -1}
			at, twice := first[n]
			if twice && n.children != nil {
				continue
			}
			p.hash = sumName(p.name, n.mode)
			hash = mixSum(mixSum(hash, p.hash), n.number)
			switch {
			case twice:
				p.link = at
				p.file = t.places[at].file
			case n.children == nil:
				p.file = len(t.files)
				t.files = append(t.files, n)
				t.ops = append(t.ops, n.ops...)
			}
			if !twice {
				first[n] = len(t.places)
			}
			t.places = append(t.places, p)
			if n.children != nil {
				walk(p.name+"/", n)
			}
		}
	}
	root := e.state.nodes[e.state.root]
	first[root] = -1
	walk("", root)
	slices.SortStableFunc(t.ops, func(a, b *dataOp) int { return a.op.N - b.op.N })
	at := make(map[*dataOp]int, len(t.ops))
	for i, op := range t.ops {
		at[op] = i
	}
	t.index = make([][]int, len(t.files))
	for i, n := range t.files {
		for _, op := range n.ops {
			t.index[i] = append(t.index[i], at[op])
		}
	}
	return t, hash
}

// yieldImage yields one image unless an equal one was yielded before.
func (e *imageEnumerator) yieldImage(t *fileTree, fates []writeFate) bool {
	im := &e.sketch
	im.enumerator = e
	im.tree = t
	im.fates = fates
	im.files = im.files[:0]
	for i, n := range t.files {
		im.files = append(im.files, e.hashFile(n, t.index[i], fates))
	}
	im.sum = 0
	im.sum = im.Sum(nil)
	if e.seenSums[im.sum] {
		return true
	}
	e.seenSums[im.sum] = true
	return e.yield(im)
}

// Sum returns the result of [Sum] for the image.
func (im *Sketch) Sum(skip func(name string) bool) uint64 {
	if skip == nil && im.sum != 0 {
		return im.sum
	}
	h := uint64(0)
	for _, p := range im.tree.places {
		h = mixSum(h, p.hash)
		isSkipped := skip != nil && skip(p.name)
		if p.file >= 0 && !isSkipped {
			h = mixSum(h, im.files[p.file])
		}
		h = mixSum(h, uint64(p.link))
	}
	return h
}

// Any reports whether fn returns true for the name of any file in the image.
func (im *Sketch) Any(fn func(name string) bool) bool {
	return slices.ContainsFunc(im.tree.places, func(p treePlace) bool { return p.file >= 0 && fn(p.name) })
}

// Mem builds the image. The caller owns it.
func (im *Sketch) Mem() *vfs.Mem {
	img := vfs.NewMem()
	for _, p := range im.tree.places {
		var err error
		switch {
		case p.link >= 0:
			err = img.Link(im.tree.places[p.link].name, p.name)
		case p.file >= 0:
			data := im.enumerator.buildFile(nil, p.node, im.tree.index[p.file], im.fates)
			err = img.Put(p.name, data, p.node.mode, p.node.mod)
		default:
			err = img.MkdirAll(p.name, p.node.mode)
		}
		if err != nil {
			panic(err) // cannot happen: the names are unique, and parents come first
		}
	}
	return img
}

// Label describes the losses.
func (im *Sketch) Label() string { return im.enumerator.imageLabel(im.tree, im.fates) }

// hashFile returns the hash of a file's content after its operations. Their fates are at the
// given indexes of fates.
func (e *imageEnumerator) hashFile(n *inode, index []int, fates []writeFate) uint64 {
	e.key = append(e.key[:0], byte(n.number), byte(n.number>>8), byte(n.number>>16), byte(n.number>>24))
	e.key = append(e.key, byte(n.number>>32), byte(n.number>>40), byte(n.number>>48), byte(n.number>>56))
	for _, at := range index {
		f := fates[at]
		e.key = append(e.key, byte(f.form), byte(f.size), byte(f.size>>8), byte(f.size>>16), byte(f.size>>24))
	}
	h, ok := e.hashes[string(e.key)]
	if !ok {
		h = sumBytes(e.buildFile(&e.scratch, n, index, fates))
		e.hashes[string(e.key)] = h
	}
	return h
}

// buildFile returns a file's content after the file's operations. If room is not nil, buildFile
// uses the memory in room. Several images may share the result, so a caller must copy the result
// before writing to it.
func (e *imageEnumerator) buildFile(room *[]byte, n *inode, index []int, fates []writeFate) []byte {
	if len(n.ops) == 0 {
		return slices.Clip(n.base)
	}
	// Most crashes leave a single appended record pending. All its partial versions are
	// prefixes of one slice, which is built only once.
	op := n.ops[0]
	isAppend := op.op.Kind == Write && op.op.Off == int64(len(n.base))
	if len(n.ops) == 1 && isAppend {
		f, old := fates[index[0]], len(n.base)
		whole, ok := e.wholes[n]
		if !ok {
			whole = slices.Concat(n.base, op.data)
			e.wholes[n] = whole
		}
		switch f.form {
		case fateLost:
			return slices.Clip(n.base)
		case fateKept:
			return slices.Clip(whole)
		case fateHead:
			return whole[: old+f.size : old+f.size]
		}
	}
	size := len(n.base)
	for _, op := range n.ops {
		size = max(size, int(op.op.Off)+len(op.data))
	}
	// The bytes after the length of data are zero unless a truncation removes them.
	var data []byte
	if room == nil {
		data = make([]byte, size)
		data = data[:copy(data, n.base)]
	} else {
		*room = slices.Grow((*room)[:0], size)
		data = append(*room, n.base...)
		clear(data[len(data):size])
		data = slices.Clip(data[:size])[:len(data)]
	}
	for i, op := range n.ops {
		f := fates[index[i]]
		if end := op.endOffset(f); int(end) > len(data) && int(end) <= cap(data) {
			data = data[:end]
		}
		data = op.applyTo(data, f)
	}
	return slices.Clip(data)
}

// imageLabel describes the losses.
func (e *imageEnumerator) imageLabel(t *fileTree, fates []writeFate) string {
	var b strings.Builder
	b.WriteString(t.label)
	for i, f := range fates {
		if f.form == fateKept {
			continue
		}
		op := t.ops[i]
		text, ok := e.texts[op]
		if !ok {
			text = op.op.String()
			e.texts[op] = text
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

// eachSubset calls try for the subsets of n things. If there are more than limit things, it
// tries only some subsets: all, none, the prefixes, all but a single thing, and a single
// thing. The full set comes first and the empty set last. If several subsets have the same
// image, the subset with the fewest losses is therefore tried first. eachSubset stops and
// returns false if try returns false.
func eachSubset(n, limit int, try func(keep []bool) bool) bool {
	keep := make([]bool, n)
	fill := func(in func(i int) bool) bool {
		for i := range keep {
			keep[i] = in(i)
		}
		return try(keep)
	}
	if n <= limit {
		for set := range 1 << n {
			if !fill(func(i int) bool { return set>>i&1 == 0 }) {
				return false
			}
		}
		return true
	}
	for k := n; k >= 0; k-- {
		if !fill(func(i int) bool { return i < k }) {
			return false
		}
	}
	for k := range n {
		if !fill(func(i int) bool { return i != k }) || !fill(func(i int) bool { return i == k }) {
			return false
		}
	}
	return true
}
