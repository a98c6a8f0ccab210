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
	tornFirst = 8 // of many pending writes, this many at the beginning are tried in parts
	tornLast  = 8 // and this many at the end
)

// Images yields the possible contents of the disk after a crash at this moment, each with a
// label that describes the losses. It does not change the disk, which may be used meanwhile.
// The caller owns each image.
//
// It tries every subset of the pending changes of names, and with each of
// them, of the files that then have a name, every subset of the pending writes
// and truncations. Where more than 6 changes of names, or 4 of bytes, are
// pending, it tries instead: none, all, each one lost, each one kept, and
// every prefix.
//
// It also tries each write in parts, while the others are all kept, all lost,
// or kept up to it: its first bytes with the file ending there, cut at byte 1,
// at every third and before the last (of more than 256 bytes: of the first and
// last 64, and at the boundaries of up to 32 sectors of 512 bytes); its full
// length with none of its bytes; and its full length with only the first, or
// only the last bytes, cut at some places and the sectors. Of more than 16
// writes, the first and the last 8 are tried so.
//
// Images with the same names, permissions and bytes are yielded once; times do
// not count.
func (d *Disk) Images(yield func(img *vfs.Mem, label string) bool) {
	d.Sketches(func(im *Sketch) bool { return yield(im.Mem(), im.Label()) })
}

// Sketches is like Images, but builds an image only if the caller requests it. Use it if you
// need few of the images.
func (d *Disk) Sketches(yield func(im *Sketch) bool) {
	d.mu.Lock()
	s := d.state.clone()
	d.mu.Unlock()
	e := enumerator{
		s: &s, yield: yield,
		seen:   make(map[uint64]bool),
		trees:  make(map[uint64]bool),
		hashes: make(map[string]uint64),
		texts:  make(map[*dataOp]string),
		wholes: make(map[*inode][]byte),
	}
	subsets(len(s.names), allNames, func(keep []bool) bool {
		for i, c := range s.names {
			if !keep[i] || c.needs == nil {
				continue
			}
			if j := slices.Index(s.names, c.needs); j >= 0 && !keep[j] {
				return true
			}
		}
		return e.names(keep)
	})
}

// enumerator is one run of Images.
type enumerator struct {
	s       *state
	yield   func(*Sketch) bool
	seen    map[uint64]bool   // hashes of the images so far
	trees   map[uint64]bool   // hashes of the name trees so far
	hashes  map[string]uint64 // hashes of file contents, by inode and fates
	scratch []byte
	texts   map[*dataOp]string // descriptions of operations
	wholes  map[*inode][]byte  // contents of files with a single pending write
	key     []byte
	sketch  Sketch // the sketch that is being yielded
}

// Sketch describes one possible content of the disk. It is valid until the function that
// received it returns.
type Sketch struct {
	e     *enumerator
	t     *tree
	fates []fate
	files []uint64 // hash of each file's content
	sum   uint64
}

// place is a name in an image.
type place struct {
	name string
	node *inode
	hash uint64 // hash of the name and the permissions
	link int    // index of an earlier place with the same file, or -1
	file int    // index into the tree's files, or -1 for a directory
}

// tree contains the names of an image.
type tree struct {
	places []place
	files  []*inode  // in the order of places
	ops    []*dataOp // pending operations on these files, oldest first
	index  [][]int   // indexes into ops, for each file
	label  string
}

// names tries one subset of the name changes with all possible fates of the pending bytes.
func (e *enumerator) names(keep []bool) bool {
	t, hash := e.tree(keep)
	if e.trees[hash] {
		return true
	}
	e.trees[hash] = true
	fates := make([]fate, len(t.ops))
	set := func(i int, keep bool) {
		fates[i] = fate{form: lost}
		if keep {
			fates[i].form = kept
		}
	}
	more := subsets(len(t.ops), allData, func(keep []bool) bool {
		for i, k := range keep {
			set(i, k)
		}
		return e.image(&t, fates)
	})
	if !more {
		return false
	}
	for i, op := range t.ops {
		if i >= tornFirst && i < len(t.ops)-tornLast {
			continue
		}
		parts := op.fates()
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
				if !e.image(&t, fates) {
					return false
				}
			}
		}
	}
	return true
}

// tree builds the names that remain, and a hash of what they refer to.
func (e *enumerator) tree(keep []bool) (tree, uint64) {
	dirs := make(map[uint64]map[string]uint64)
	var lostNames []string
	for i, c := range e.s.names {
		if !keep[i] {
			lostNames = append(lostNames, "lost "+c.part+c.op.String())
			continue
		}
		for _, f := range c.effects {
			if dirs[f.dir] == nil {
				dirs[f.dir] = maps.Clone(e.s.nodes[f.dir].kids)
			}
			if f.ino == 0 {
				delete(dirs[f.dir], f.name)
			} else {
				dirs[f.dir][f.name] = f.ino
			}
		}
	}
	var t tree
	t.label = strings.Join(lostNames, ", ")
	var hash uint64
	first := make(map[*inode]int)
	var walk func(prefix string, dir *inode)
	walk = func(prefix string, dir *inode) {
		kids := dir.kids
		if changed, ok := dirs[dir.ino]; ok {
			kids = changed
		}
		for _, base := range slices.Sorted(maps.Keys(kids)) {
			n := e.s.nodes[kids[base]]
			p := place{name: prefix + base, node: n, link: -1, file: -1}
			at, twice := first[n]
			if twice && n.kids != nil {
				continue
			}
			p.hash = sumName(p.name, n.mode)
			hash = mix(mix(hash, p.hash), n.ino)
			switch {
			case twice:
				p.link = at
				p.file = t.places[at].file
			case n.kids == nil:
				p.file = len(t.files)
				t.files = append(t.files, n)
				t.ops = append(t.ops, n.ops...)
			}
			if !twice {
				first[n] = len(t.places)
			}
			t.places = append(t.places, p)
			if n.kids != nil {
				walk(p.name+"/", n)
			}
		}
	}
	root := e.s.nodes[e.s.root]
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

// image yields one image unless an equal one was yielded before.
func (e *enumerator) image(t *tree, fates []fate) bool {
	im := &e.sketch
	im.e = e
	im.t = t
	im.fates = fates
	im.files = im.files[:0]
	for i, n := range t.files {
		im.files = append(im.files, e.hash(n, t.index[i], fates))
	}
	im.sum = 0
	im.sum = im.Sum(nil)
	if e.seen[im.sum] {
		return true
	}
	e.seen[im.sum] = true
	return e.yield(im)
}

// Sum returns the result of [Sum] for the image.
func (im *Sketch) Sum(skip func(name string) bool) uint64 {
	if skip == nil && im.sum != 0 {
		return im.sum
	}
	h := uint64(0)
	for _, p := range im.t.places {
		h = mix(h, p.hash)
		if p.file >= 0 && (skip == nil || !skip(p.name)) {
			h = mix(h, im.files[p.file])
		}
		h = mix(h, uint64(p.link))
	}
	return h
}

// Any reports whether fn returns true for the name of any file in the image.
func (im *Sketch) Any(fn func(name string) bool) bool {
	return slices.ContainsFunc(im.t.places, func(p place) bool { return p.file >= 0 && fn(p.name) })
}

// Mem builds the image. The caller owns it.
func (im *Sketch) Mem() *vfs.Mem {
	img := vfs.NewMem()
	for _, p := range im.t.places {
		var err error
		switch {
		case p.link >= 0:
			err = img.Link(im.t.places[p.link].name, p.name)
		case p.file >= 0:
			data := im.e.build(nil, p.node, im.t.index[p.file], im.fates)
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
func (im *Sketch) Label() string { return im.e.label(im.t, im.fates) }

// hash returns the hash of a file's content after its operations. Their fates are at the
// given indexes of fates.
func (e *enumerator) hash(n *inode, index []int, fates []fate) uint64 {
	e.key = append(e.key[:0], byte(n.ino), byte(n.ino>>8), byte(n.ino>>16), byte(n.ino>>24))
	e.key = append(e.key, byte(n.ino>>32), byte(n.ino>>40), byte(n.ino>>48), byte(n.ino>>56))
	for _, at := range index {
		f := fates[at]
		e.key = append(e.key, byte(f.form), byte(f.at), byte(f.at>>8), byte(f.at>>16), byte(f.at>>24))
	}
	h, ok := e.hashes[string(e.key)]
	if !ok {
		h = sumBytes(e.build(&e.scratch, n, index, fates))
		e.hashes[string(e.key)] = h
	}
	return h
}

// build returns a file's content after its operations. It uses the memory in room unless
// room is nil. The result may be shared with other images, so a caller must copy it before
// writing to it.
func (e *enumerator) build(room *[]byte, n *inode, index []int, fates []fate) []byte {
	if len(n.ops) == 0 {
		return slices.Clip(n.base)
	}
	// Most crashes leave a single appended record pending. All its partial versions are
	// prefixes of one slice, which is built only once.
	if op := n.ops[0]; len(n.ops) == 1 && op.op.Kind == Write && op.op.Off == int64(len(n.base)) {
		f, old := fates[index[0]], len(n.base)
		whole, ok := e.wholes[n]
		if !ok {
			whole = slices.Concat(n.base, op.data)
			e.wholes[n] = whole
		}
		switch f.form {
		case lost:
			return slices.Clip(n.base)
		case kept:
			return slices.Clip(whole)
		case head:
			return whole[: old+f.at : old+f.at]
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
		if end := op.end(f); int(end) > len(data) && int(end) <= cap(data) {
			data = data[:end]
		}
		data = op.apply(data, f)
	}
	return slices.Clip(data)
}

// label describes the losses.
func (e *enumerator) label(t *tree, fates []fate) string {
	var b strings.Builder
	b.WriteString(t.label)
	for i, f := range fates {
		if f.form == kept {
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
		b.WriteString(f.text(text))
	}
	if b.Len() == 0 {
		return "all kept"
	}
	return b.String()
}

// subsets calls try for the subsets of n things. If there are more than limit things, it
// tries only some subsets: all, none, the prefixes, each thing missing, and each thing
// alone. The full set comes first and the empty set last, so that of several subsets with
// the same image the one with the fewest losses comes first. It stops and returns false if
// try returns false.
func subsets(n, limit int, try func(keep []bool) bool) bool {
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
