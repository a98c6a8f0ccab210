// This file reads real texts to fill a store with, and samples phrases to search for.

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

// entryTextBytes is the approximate size of an entry in the measurements, in bytes.
const entryTextBytes = 1000

// errEnoughTexts is returned by a callback to stop reading texts when enough have been read.
var errEnoughTexts = errors.New("enough")

// textSource says from where the measurements get the texts of their entries.
type textSource struct {
	dataDir    string // directory that contains longmemeval-dev, or ""
	textDir    string // directory with any text files, whose texts are used, or ""
	entryBytes int    // approximate size of the entries that are made from the texts, in bytes (0 means entryTextBytes)
}

// addFlags defines the flags --data and --text.
func (s *textSource) addFlags(fl *flag.FlagSet) {
	fl.StringVar(&s.dataDir, "data", "", "`DIR` that holds longmemeval-dev: its sessions are the texts")
	s.addTextFlag(fl)
}

func (s *textSource) addTextFlag(fl *flag.FlagSet) {
	fl.StringVar(&s.textDir, "text", "", "`DIR` of text files (default: the comments of Go's standard library)")
}

// readEntries returns up to n entries, and a description of their origin. The
// order of the entries depends only on the texts.
func (s textSource) readEntries(ctx context.Context, n int) (es []oxbow.Add, textOrigin string, err error) {
	take := func(name, text string) error {
		for i, p := range splitText(text, cmp.Or(s.entryBytes, entryTextBytes)) {
			es = append(es, oxbow.Add{Name: fmt.Sprintf("%s #%d", name, i+1), Content: p})
			if len(es) == n {
				return errEnoughTexts
			}
		}
		return nil
	}
	switch {
	case s.textDir != "":
		textOrigin, err = "the text files of "+path.Base(s.textDir), eachTextFile(os.DirFS(s.textDir), take)
	case s.dataDir != "":
		textOrigin, err = "LongMemEval's sessions", eachSession(os.DirFS(s.dataDir), take)
	default:
		var root string
		root, err = goRoot(ctx)
		if err != nil {
			return nil, "", err
		}
		textOrigin, err = "the comments of Go's standard library", eachCommentFile(os.DirFS(root), take)
	}
	if err != nil && !errors.Is(err, errEnoughTexts) {
		return nil, "", fmt.Errorf("reading %s: %w", textOrigin, err)
	}
	if len(es) == 0 {
		return nil, "", fmt.Errorf("reading %s: found no text", textOrigin)
	}
	return es, textOrigin, nil
}

// goRoot returns the source directory of the Go installation.
func goRoot(ctx context.Context) (string, error) {
	b, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("asking go for its root: %w", err)
	}
	return path.Join(strings.TrimSpace(string(b)), "src"), nil
}

// eachTextFile calls the function handleText with the name and the text of each UTF-8 file with at most 4 MB. It skips
// names that begin with a dot.
func eachTextFile(fsys fs.FS, handleText func(name, text string) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > oxbow.MaxContent {
			return err
		}
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if s := string(b); oxbow.CheckContent(s) == nil {
			return handleText(name, s)
		}
		return nil
	})
}

// eachSession calls handleText with the ID and the text of each session in the data set LongMemEval, in the order of
// the IDs. It stops at the first error.
func eachSession(fsys fs.FS, handleText func(name, text string) error) error {
	src, err := quality.FindSource(fsys, ".", "longmemeval")
	if err != nil {
		return err
	}
	// text of each session by its ID, because several questions have the same session in their history
	texts := map[string]string{}
	for q, err := range src.Questions() {
		if err != nil {
			return err
		}
		for i := range q.Sessions {
			if s := &q.Sessions[i]; texts[s.ID] == "" {
				texts[s.ID] = s.Text()
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		if err := handleText(id, texts[id]); err != nil {
			return err
		}
	}
	return nil
}

// eachCommentFile calls the function handleText with the name and the comments of each Go file. It skips tests and
// vendored code. The comments do not include licences and directives (see joinCommentWords).
func eachCommentFile(fsys fs.FS, handleText func(name, text string) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "vendor" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if s := joinCommentWords(src); oxbow.CheckContent(s) == nil {
			return handleText(name, s)
		}
		return nil
	})
}

// joinCommentWords returns the texts of the comments in a Go file, without the comment marks. Each comment begins on a
// new line. Compiler directives and licenses are left out.
func joinCommentWords(src []byte) string {
	var sc scanner.Scanner
	fset := token.NewFileSet()
	sc.Init(fset.AddFile("", fset.Base(), len(src)), src, nil, scanner.ScanComments)
	var b strings.Builder
	for {
		_, tok, lit := sc.Scan()
		if tok == token.EOF {
			return b.String()
		}
		isDirective := strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "//line")
		if tok != token.COMMENT || isDirective {
			continue
		}
		lit = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(lit, "//"), "/*"), "*/")
		lit = strings.TrimSpace(lit)
		if lit == "" || isLicence(lit) {
			continue
		}
		b.WriteString(lit + "\n")
	}
}

func isLicence(line string) bool {
	for _, s := range []string{
		"Copyright ",
		"Use of this source code",
		"license that can be found",
		"Code generated ",
	} {
		if strings.HasPrefix(line, s) {
			return true
		}
	}
	return false
}

// splitText splits a text into pieces of about pieceBytes bytes. It splits at white space if there is any in the second
// half of a piece, otherwise between two runes. A last piece of less than half of pieceBytes is left out, so that the
// pieces have similar sizes.
func splitText(s string, pieceBytes int) []string {
	var pieces []string
	for {
		s = strings.TrimSpace(s)
		if len(s) <= pieceBytes {
			if len(s) >= pieceBytes/2 {
				pieces = append(pieces, s)
			}
			return pieces
		}
		end := strings.LastIndexFunc(s[:pieceBytes], unicode.IsSpace)
		if end < pieceBytes/2 {
			for end = pieceBytes; end > 0 && !utf8.RuneStart(s[end]); {
				end--
			}
		}
		pieces = append(pieces, strings.TrimSpace(s[:end]))
		s = s[end:]
	}
}

// samplePhrases returns n random phrases from the contents of the entries. A phrase has 2 to 8 consecutive words, with
// single spaces between them, and at least two terms. The same seed results in the same phrases. If the texts have too
// few words, samplePhrases returns an error.
func samplePhrases(es []oxbow.Add, n int, seed uint64) ([]string, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	var ps []string
	for range 100 * n {
		if len(ps) == n {
			return ps, nil
		}
		e := es[r.IntN(len(es))]
		words := strings.Fields(e.Content)
		k := 2 + r.IntN(7)
		if len(words) < k {
			continue
		}
		at := r.IntN(len(words) - k + 1)
		p := strings.Join(words[at:at+k], " ")
		// Use only phrases with at least two terms, because a phrase of stop words finds nothing.
		if len(text.CrabtalkTerms(p)) >= 2 {
			ps = append(ps, p)
		}
	}
	return nil, fmt.Errorf("sampling phrases: the texts have too few words")
}

// entriesPerFillChange is the number of entries in each change that fillMemory makes.
const entriesPerFillChange = 1000

// fillMemory writes the entries into the memory, entriesPerFillChange entries in each change.
func fillMemory(ctx context.Context, m *oxbow.Memory, es []oxbow.Add) error {
	for chunk := range slices.Chunk(es, entriesPerFillChange) {
		ops := make([]oxbow.Op, len(chunk))
		for i, e := range chunk {
			ops[i] = e
		}
		if err := m.Apply(ctx, ops...); err != nil {
			return fmt.Errorf("filling the store: %w", err)
		}
	}
	return nil
}

// repeatEntries returns entryCount entries. If es has fewer entries, they are repeated under different names.
func repeatEntries(es []oxbow.Add, entryCount int) []oxbow.Add {
	out := make([]oxbow.Add, entryCount)
	for i := range out {
		out[i] = es[i%len(es)]
		if i >= len(es) {
			out[i].Name += fmt.Sprintf(" (%d)", i/len(es)+1)
		}
	}
	return out
}
