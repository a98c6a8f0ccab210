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
	"time"

	"github.com/oxbow-memory/oxbow/internal/diff"
)

// State says how a referred to file, or the lines of it, stand in the working tree.
type State string

const (
	Fresh        State = "FRESH"        // at least .8 of it still stands there
	MovedTo      State = "MOVED"        // the same, under another name or in other lines
	Stale        State = "STALE"        // gone, or changed so much
	Unverifiable State = "UNVERIFIABLE" // nothing says what it was like, or it is not of this tree
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
	Time time.Time // when it was referred to; asks git for the content when Blob does not say it

	// Doubtful says that the reference may be of another tree: then only a file
	// that is known by its Blob counts.
	Doubtful bool
}

// CheckedRef is how a reference stands now.
type CheckedRef struct {
	FileRef
	State State
	Now   string  // where it, or what is left of it, is now, if that is elsewhere: a path, with lines if File had some
	Kept  float64 // share of it that still stands, 0 to 1; 0 when Unverifiable, or when how much is not known
	How   string  // the same in words, for people
}

// maxAsked bounds the references of one call that git is asked about one by one;
// those beyond are Unverifiable, unless they are as they were.
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

var lineSuffix = regexp.MustCompile(`^(.+?)(?::|#L)([0-9]{1,9})(?:-L?([0-9]{1,9}))?$`)

// splitLines splits the lines off a reference.
func splitLines(file string) (string, Span) {
	m := lineSuffix.FindStringSubmatch(file)
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

// CheckFileRefs says how each of the references stands in the working tree, changes that
// were not committed included. What the file was like is what Blob says, where
// git has that; else what HEAD's history says of that time: the last version
// before, or the first after, which may have been under way. It never fails:
// what cannot be looked at is [Unverifiable], and says why.
func (b *Store) CheckFileRefs(ctx context.Context, cs []FileRef) []CheckedRef {
	out := make([]CheckedRef, len(cs))
	asker := &refChecker{store: b, ctx: ctx, left: maxAsked}
	if b.history != nil {
		asker.head, asker.err = b.history.Head(ctx)
	}
	type open struct {
		i       int
		file    string
		span    Span
		content []byte
		there   bool
	}
	var todo []open
	want := map[string]bool{}
	for i, c := range cs {
		out[i] = CheckedRef{FileRef: c, State: Unverifiable}
		file, span := b.inTree(c.File), Span{}
		if _, err := b.work.Stat(file); err != nil { // else it is a file whose name ends like lines
			file, span = splitLines(file)
		}
		if CheckFile(file) != nil {
			out[i].How = "it is not a path inside the working tree"
			continue
		}
		content, err := b.content(file)
		switch fi, serr := b.work.Stat(file); {
		case err == nil && isBinary(content) && blobName(content, len(c.Blob) == 64) != c.Blob:
			out[i].How = "it is binary, and not as it was"
			if c.Blob == "" {
				out[i].How = "it is binary, and nothing says what it was like"
			} else if !c.Doubtful {
				out[i].State = Stale
			}
			continue
		case err == nil && c.Blob != "" && blobName(content, len(c.Blob) == 64) == c.Blob:
			out[i].State, out[i].Kept, out[i].How = Fresh, 1, "the file is as it was"
			continue
		case err == nil:
			todo = append(todo, open{i, file, span, content, true})
		case serr == nil && fi.IsDir():
			out[i].How = "it is a directory, which is there; what is in it is not compared"
			continue
		case errors.Is(err, fs.ErrNotExist):
			todo = append(todo, open{i: i, file: file, span: span})
		default:
			out[i].How = "it cannot be read" // the error holds the path, which is a claim
			continue
		}
		if c.Blob != "" && b.history != nil && (len(c.Blob) == 64) == b.history.SHA256() && isHex(c.Blob) {
			want[c.Blob] = true
		}
	}
	asker.read(want)
	for _, o := range todo {
		c := &out[o.i]
		if asker.err != nil && !errors.Is(asker.err, errAsked) {
			c.How = "it was not looked at: " + asker.err.Error()
			continue
		}
		if o.there {
			asker.compare(c, o.file, o.file, o.span, o.content)
		} else {
			asker.follow(c, o.file, o.span)
		}
		if asker.err != nil {
			c.State, c.Now, c.Kept, c.How = Unverifiable, "", 0, "it was not looked at: "+asker.err.Error()
		}
	}
	return out
}

// refChecker asks git for what references were like.
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
	if a.left--; a.left < 0 {
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

// compare fills in how the referred to file stands in a content, which is that of the
// file now called so.
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
	lines := Lines(content)
	pg := newLineIndex(newInterner(), lines)
	best := match{confidence: -1}
	for _, text := range texts {
		if len(text) > MaxFile || isBinary(text) {
			continue
		}
		old := Lines(text)
		s := match{placing: Edited, confidence: keptOf(pg, old)}
		if span.Len() > 0 && span.Last <= len(old) {
			r := &Record{File: file, Span: span}
			r.take(old)
			s = pg.find(r, "", &oldVersion{oldText: &oldText{old, pg.in.lines.Lines(old)}, mapper: new(diff.Mapper)})
			if s.placing != Edited && s.placing != Lost {
				s.confidence = 1
			}
		}
		if s.confidence > best.confidence {
			best = s
		}
	}
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
		c.State = MovedTo
	default:
		c.State = Fresh
	}
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
		if a.err == nil && c.State == Unverifiable {
			c.State, c.Now, c.How = MovedTo, n, "the file was renamed; nothing says how much of it has changed"
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
