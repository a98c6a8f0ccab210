// This file lists the possible contents of the disk after a crash.

package crashfs

import (
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	allNames  = 6 // maximum number of pending name changes for which every subset is tried
	allData   = 4 // maximum number of pending writes and truncations for which every subset is tried
	tornFirst = 8 // number of pending writes at the beginning that are cut if there are too many to cut all
	tornLast  = 8 // number of pending writes at the end that are cut if there are too many to cut all
)

// EachImage yields the possible contents of the disk after a crash at this moment. Each comes with a label that tells
// what is lost. The disk does not change and may be used meanwhile. The caller owns each image.
//
// A change is pending if a crash may lose it. EachImage tries every subset of the pending changes of names. Each
// subset leaves some files with names. For these files, EachImage tries every subset of the pending writes and
// truncations. If there are more than 6 changes of names, or more than 4 writes and truncations, it tries only some
// subsets: none, all, all but one change, one change, and every prefix.
//
// A part of a write may also reach the disk. EachImage tries each write in three ways:
//
//   - Only its first bytes are in the file, and the file ends after them. The write is cut after byte 1, after every
//     third byte, and before its last byte. A write of more than 256 bytes is cut only within its first and last 64
//     bytes, and at up to 32 boundaries of sectors of 512 bytes.
//   - The file has its full length, but none of the bytes.
//   - The file has its full length, but only the first or the last bytes. The write is cut at some places and at the
//     boundaries of sectors.
//
// Each of these is combined with three cases: all other writes are kept, all are lost, and only the writes before this
// one are kept. If there are more than 16 writes, only the first 8 and the last 8 are cut.
//
// Images with the same names, permissions and bytes are yielded once, even if their times differ.
func (d *Disk) EachImage(yield func(img *vfs.Mem, label string) bool) {
	d.EachSketch(func(im *Sketch) bool { return yield(im.Mem(), im.Label()) })
}

// EachSketch yields the same contents as EachImage, but as sketches. A sketch builds its image only when the caller
// asks for it. This saves time if only a few images are needed.
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

// imageEnumerator is the state of one call of EachImage or EachSketch.
type imageEnumerator struct {
	state    *diskState
	yield    func(*Sketch) bool
	seenSums map[uint64]bool   // hashes of the images that were yielded
	trees    map[uint64]bool   // hashes of the trees of names that were tried
	hashes   map[string]uint64 // hash of a file's content, by the inode and the fates of its operations
	scratch  []byte
	texts    map[*dataOp]string // description of each operation, for labels
	wholes   map[*inode][]byte  // for each file with a single pending write at its end: the content with that write
	key      []byte
	sketch   Sketch // sketch that is yielded; it is reused for the next image
}

// Sketch describes one possible content of the disk. It is valid only until the function that got it returns.
type Sketch struct {
	enumerator *imageEnumerator
	tree       *fileTree
	fates      []writeFate
	files      []uint64 // hash of the content of each file, in the order of the tree's files
	sum        uint64
}

// treePlace is a name in an image, with the file or directory to which it leads.
type treePlace struct {
	name string
	node *inode
	hash uint64 // hash of the name and its permissions
	link int    // index of an earlier place with the same file (-1 if there is none)
	file int    // index in the files of the tree (-1 for a directory)
}

// fileTree contains all names of an image, and the files to which they lead.
type fileTree struct {
	places []treePlace
	files  []*inode  // files in the order of places
	ops    []*dataOp // pending operations on the files, the oldest first
	index  [][]int   // for each file, the indexes of its operations in ops
	label  string
}

// chooseNames builds the names that remain with one subset of the changes. It yields images with all fates of the
// pending writes. It returns false if the caller wants no more images.
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

// buildTree returns the names that remain if only the chosen changes are kept. The second result is a hash of these
// names and their files.
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

// yieldImage yields the image with these fates, unless an equal image was yielded before. It returns false if the
// caller wants no more images.
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

// Sum returns the hash that [Sum] returns for the image, without building the image.
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

// Any reports whether fn returns true for the name of a file in the image.
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
			panic(err) // This cannot happen: the names are unique, and each directory comes before its files.
		}
	}
	return img
}

// Label tells what is lost in this image.
func (im *Sketch) Label() string { return im.enumerator.imageLabel(im.tree, im.fates) }

// hashFile returns the hash of the content of a file after its pending operations. index contains the positions of
// their fates in fates.
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

// buildFile returns the content of a file after its pending operations. If room is not nil, buildFile may store the
// content there, and the next call overwrites it. Several images may share the result, so callers must copy it before
// they write to it.
func (e *imageEnumerator) buildFile(room *[]byte, n *inode, index []int, fates []writeFate) []byte {
	if len(n.ops) == 0 {
		return slices.Clip(n.base)
	}
	// After most crashes, a single record at the end of a file is pending. All its parts are prefixes of one slice,
	// which is built only once.
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
	// The bytes between the length and the capacity of data are zeros, so data can grow without clearing them. After a
	// truncation this need not hold.
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

// imageLabel returns a label that tells what is lost with these fates.
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

// eachSubset calls try for the subsets of n things. If n is greater than limit, it tries only some subsets: all
// things, none, every prefix, all but one thing, and one thing alone. It begins with all things and ends with none. So
// if several subsets lead to the same image, the subset with the fewest losses comes first. eachSubset stops and
// returns false as soon as try returns false.
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
