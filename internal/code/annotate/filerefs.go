// Checking references to files: how the files that a memory names stand now.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// State says how a referred to file, or the lines of it, stand in the working tree.
type State string

const (
	fresh        State = "FRESH"        // at least .8 of it still stands there
	movedTo      State = "MOVED"        // the same, under another name or in other lines
	Stale        State = "STALE"        // gone, or changed so much
	unverifiable State = "UNVERIFIABLE" // nothing says what it was like, or it is not of this tree
)

// stillFresh is the share of a file that must still stand for it to be fresh.
const stillFresh = .8

// FileRef is a file as something else names it.
type FileRef struct {
	// File is a path from the root of the tree. It may end in lines, as in
	// pool.go:42, pool.go:42-60, pool.go#L42 or pool.go#L42-L60: then only
	// these count.
	File string

	Blob string    // git's name of the content then, as [Store.Blob] gives it; "" when it is not known
	Time time.Time // when it was referred to; finds the content in git where Blob is empty

	// Doubtful says that the reference may be of another tree: then only a file
	// that is known by its Blob counts.
	Doubtful bool
}

// CheckedRef is how a reference stands now.
type CheckedRef struct {
	FileRef
	State State
	Now   string  // where it, or what is left of it, is now, if that is elsewhere: a path, with lines if File had some
	Kept  float64 // share of it that still stands, 0 to 1; 0 when unverifiable, or when how much is not known
	How   string  // the same in words, for people
}

// maxAsked bounds the references of one call that git is asked about one by one;
// those beyond are unverifiable, unless they are as they were.
const maxAsked = 20

// errAsked says that the bound was reached.
var errAsked = errors.New("too many files to ask git about at once")

// Blob returns git's name of the content that a file of the working tree has,
// whether or not git has it, and false for what is no file that can be referred to.
func (b *Store) Blob(file string) (string, bool) {
	file, _ = splitLines(b.inTree(file))
	data, err := b.content(file)
	if err != nil || CheckFile(file) != nil {
		return "", false
	}
	return blobName(data, b.sha256()), true
}

// inTree returns the path as records have it, where it is one; anything else
// as it is.
func (b *Store) inTree(file string) string {
	if filepath.IsAbs(file) && b.root != "" {
		if rel, err := b.File("/", file); err == nil {
			return rel
		}
		return file
	}
	if file == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(file))
}

var lineSuffix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?)(?::|#L)([0-9]{1,9})(?:-L?([0-9]{1,9}))?$`) })

// splitLines splits the lines off a reference.
func splitLines(file string) (string, Span) {
	m := lineSuffix().FindStringSubmatch(file)
	if m == nil {
		return file, Span{}
	}
	s := Span{}
	s.First, _ = strconv.Atoi(m[2])
	s.Last = s.First
	if m[3] != "" {
		s.Last, _ = strconv.Atoi(m[3])
	}
	if s.Len() == 0 {
		return file, Span{}
	}
	return m[1], s
}

// CheckFileRefs says how each of the references stands in the working tree, changes
// that were not committed included. What the file was like is what Blob says, where
// git has that; else what HEAD's history says of that time: the last version
// before, or the first after, which may have been under way. It never fails:
// what cannot be looked at is unverifiable, and says why.
func (b *Store) CheckFileRefs(ctx context.Context, refs []FileRef) []CheckedRef {
	c := &refChecker{store: b, ctx: ctx, left: maxAsked}
	if b.history != nil {
		c.head, c.err = b.history.Head(ctx)
	}
	out := make([]CheckedRef, len(refs))
	var open []openRef
	want := map[string]bool{}
	for i, r := range refs {
		out[i] = CheckedRef{FileRef: r, State: unverifiable}
		o := openRef{checked: &out[i]}
		if !o.look(b) {
			continue
		}
		open = append(open, o)
		if b.history != nil && git.IsHash(r.Blob) && (len(r.Blob) == 64) == b.sha256() {
			want[r.Blob] = true
		}
	}
	c.read(want)
	for _, o := range open {
		if c.err == nil || errors.Is(c.err, errAsked) {
			if o.there {
				c.compare(o.checked, o.file, o.file, o.span, o.content)
			} else {
				c.follow(o.checked, o.file, o.span)
			}
		}
		if c.err != nil {
			o.checked.State = unverifiable
			o.checked.Now = ""
			o.checked.Kept = 0
			o.checked.How = "it was not looked at: " + c.err.Error()
		}
	}
	return out
}

// openRef is a reference that the working tree alone does not settle.
type openRef struct {
	checked *CheckedRef
	file    string
	span    Span
	content []byte
	there   bool
}

// look reads what the reference names, and reports whether it is to be compared
// with what it was like; else it says how it stands.
func (o *openRef) look(b *Store) bool {
	r := o.checked
	o.file = b.inTree(r.File)
	if _, err := b.work.Stat(o.file); err != nil { // else it is a file whose name ends like lines
		o.file, o.span = splitLines(o.file)
	}
	if CheckFile(o.file) != nil {
		r.How = "it is not a path inside the working tree"
		return false
	}
	var err error
	o.content, err = b.content(o.file)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		r.How = "it cannot be read" // the error holds the path, which is a claim
		if fi, err := b.work.Stat(o.file); err == nil && fi.IsDir() {
			r.How = "it is a directory, which is there; what is in it is not compared"
		}
		return false
	}
	o.there = true
	same := r.Blob != "" && blobName(o.content, len(r.Blob) == 64) == r.Blob
	switch {
	case same:
		r.State = fresh
		r.Kept = 1
		r.How = "the file is as it was"
	case isBinary(o.content) && r.Blob == "":
		r.How = "it is binary, and nothing says what it was like"
	case isBinary(o.content):
		r.How = "it is binary, and not as it was"
		if !r.Doubtful {
			r.State = Stale
		}
	default:
		return true
	}
	return false
}

// refChecker reads from git what references were like.
type refChecker struct {
	store *Store
	ctx   context.Context
	head  string // "" without git
	blobs map[string][]byte
	left  int // questions that may still be asked one by one
	err   error
}

// read reads the blobs that the references name.
func (a *refChecker) read(want map[string]bool) {
	a.blobs = map[string][]byte{}
	if a.head == "" || len(want) == 0 || a.err != nil {
		return
	}
	names := make([]string, 0, len(want))
	for n := range want {
		names = append(names, n)
	}
	slices.Sort(names)
	a.blobs, a.err = a.store.history.Blobs(a.ctx, names)
}

// countQuestion counts a question, and reports whether it may be asked.
func (a *refChecker) countQuestion() bool {
	if a.err != nil || a.head == "" {
		return false
	}
	a.left--
	if a.left < 0 {
		a.err = errAsked
	}
	return a.err == nil
}

// versions returns what the file may have been like when it was referred to, and what
// says so. Sure is that it is of this tree.
func (a *refChecker) versions(c *CheckedRef, file string) (texts [][]byte, how string, sure bool) {
	if text, ok := a.blobs[c.Blob]; ok && c.Blob != "" {
		return [][]byte{text}, "", true
	}
	if c.Doubtful || c.Time.IsZero() || !a.countQuestion() {
		return nil, "", false
	}
	before, after, err := a.store.history.Around(a.ctx, file, c.Time)
	if err != nil {
		a.err = err
		return nil, "", false
	}
	blobs, err := a.store.history.Blobs(a.ctx, slices.DeleteFunc([]string{before, after}, func(s string) bool { return s == "" }))
	if err != nil {
		a.err = err
		return nil, "", false
	}
	for _, n := range []string{before, after} {
		if text, ok := blobs[n]; ok {
			texts = append(texts, text)
		}
	}
	return texts, ", by what git has of that time", len(texts) > 0
}

// compare fills in how the file of a reference stands in a content, which is that
// of the file now called so.
func (a *refChecker) compare(c *CheckedRef, file, now string, span Span, content []byte) {
	texts, how, _ := a.versions(c, file)
	if a.err != nil {
		return
	}
	if len(texts) == 0 {
		switch {
		case c.Doubtful:
			c.How = "it may be of another project"
		case c.Blob != "" && now == file:
			c.State, c.How = Stale, "the file has changed; how much is not known, as nobody has kept what it was"
		default:
			c.How = "nothing says what it was like"
		}
		return
	}
	best := bestMatch(texts, file, span, content)
	if best.confidence < 0 {
		c.How = "it was binary"
		return
	}
	c.Kept = math.Round(best.confidence*100) / 100
	what := "of the file still stands"
	if span.Len() > 0 {
		what = "of these lines still stand"
	}
	c.How = fmt.Sprintf("%.0f %% %s%s", 100*c.Kept, what, how)
	if span.Len() > 0 && best.span.Len() > 0 && (now != file || best.span != span) {
		c.Now = now + ":" + best.span.String()
	} else if now != file {
		c.Now = now
	}
	switch {
	case best.confidence < stillFresh:
		c.State = Stale
	case c.Now != "":
		c.State = movedTo
	default:
		c.State = fresh
	}
}

// bestMatch returns how much of a file, or of lines of it, still stands in a content,
// by the older version that says most; with a confidence of -1 when none has lines.
func bestMatch(texts [][]byte, file string, span Span, content []byte) match {
	x := newLineIndex(newInterner(), Lines(content))
	best := match{confidence: -1}
	for _, text := range texts {
		if len(text) > MaxFile || isBinary(text) {
			continue
		}
		old := Lines(text)
		m := match{placing: Edited, confidence: keptOf(x, old)}
		if span.Len() > 0 && span.Last <= len(old) {
			r := &Record{File: file, Span: span}
			r.take(old)
			m = x.find(r, "", &oldVersion{oldText: &oldText{old, x.in.lines.Lines(old)}, mapper: new(diff.Mapper)})
			if m.placing != Edited && m.placing != Lost {
				m.confidence = 1
			}
		}
		if m.confidence > best.confidence {
			best = m
		}
	}
	return best
}

// keptOf returns the share of the letters of a text whose lines still stand on
// the text, in their order.
func keptOf(pg *lineIndex, old []string) float64 {
	all, kept := 0, 0
	for i, to := range new(diff.Mapper).Map(pg.in.lines.Lines(old), pg.ids) {
		n := letters(old[i])
		all += n
		if to >= 0 {
			kept += n
		}
	}
	if all == 0 {
		return 1
	}
	return float64(kept) / float64(all)
}

// follow looks for a file that is not in the working tree.
func (a *refChecker) follow(c *CheckedRef, file string, span Span) {
	if a.head == "" {
		c.How = "there is no such file here, and no git that says whether there was"
		return
	}
	_, ours := a.blobs[c.Blob]
	if c.Doubtful && !ours {
		c.How = "there is no such file here; it may be of another project"
		return
	}
	if !a.countQuestion() {
		return
	}
	names, was, err := a.store.history.Successors(a.ctx, file)
	if err != nil {
		a.err = err
		return
	}
	for _, n := range slices.Backward(names) {
		if CheckFile(n) != nil {
			continue
		}
		content, err := a.store.content(n)
		if err != nil || isBinary(content) {
			continue
		}
		a.compare(c, file, n, span, content)
		if a.err == nil && c.State == unverifiable {
			c.State = movedTo
			c.Now = n
			c.How = "the file was renamed; nothing says how much of it has changed"
		}
		return
	}
	if !was && !ours {
		at, err := a.store.history.At(a.ctx, a.head, file) // deleted, and that is not committed
		if err != nil {
			a.err = err
			return
		}
		if at == "" {
			c.How = "there is no such file here, and git knows of none"
			return
		}
	}
	c.State, c.How = Stale, "the file is gone"
}
