// This file implements the command named "shapes". It measures how many sections of ordinary documentation oxbow
// mistakes for instructions to an agent.

package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
)

// instructionCheckFlags contains the flags of the command named "shapes", which measures how often ordinary text is
// mistaken for instructions.
type instructionCheckFlags struct {
	dataDir, goroot                          string
	sectionsPerSource                        int
	seed                                     string
	usesTuningSections, printsMarkedSections bool
}

func shapesCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	var f instructionCheckFlags
	fl.StringVar(&f.dataDir, "data", "/usr/share", "`DIR` that holds the directories doc and man of a Debian system")
	fl.StringVar(&f.goroot, "goroot", runtime.GOROOT(), "`DIR` of a Go installation")
	fl.IntVar(&f.sectionsPerSource, "n", 5000, "sections that are chosen of each source")
	fl.StringVar(&f.seed, "seed", "1", "what chooses the sections")
	fl.BoolVar(
		&f.usesTuningSections,
		"tune",
		false,
		"choose from the sections that are never measured, to work on the rules",
	)
	fl.BoolVar(&f.printsMarkedSections, "show", false, "print the sections that are marked")
	return func(ctx context.Context) error { return b.countMarkedSections(ctx, &f) }
}

// countMarkedSections counts the sections of ordinary documentation that are mistaken for instructions to an agent.
func (b *bench) countMarkedSections(ctx context.Context, f *instructionCheckFlags) error {
	if f.goroot == "" {
		return errors.New("--goroot is needed, because a program built with -trimpath does not know it: try " +
			"--goroot \"$(go env GOROOT)\"")
	}
	t := newTable("sections of", "sections", "bytes", "marked", "share")
	for _, source := range []struct {
		name string
		dirs []string
		read func(path string) ([]string, error)
	}{
		{
			"Go: doc comments and pages of the installation",
			[]string{filepath.Join(f.goroot, "src"), filepath.Join(f.goroot, "doc")},
			readGoDocSections,
		},
		{"Debian: manual pages", []string{filepath.Join(f.dataDir, "man")}, readManPageSections},
		{"Debian: documents of packages", []string{filepath.Join(f.dataDir, "doc")}, readDocSections},
	} {
		all, err := readSectionsInDirs(ctx, source.dirs, source.read)
		if err != nil {
			return err
		}
		n := f.sectionsPerSource
		if strings.HasPrefix(source.name, "Debian") {
			n /= 2
		}
		chosen := f.chooseSections(all, n)
		bytes, marked := 0, 0
		for _, s := range chosen {
			bytes += len(s)
			if rules := instruction.FindMatchingRules(s); rules != nil {
				marked++
				if f.printsMarkedSections {
					b.printf("%v\t%q\n", rules, s)
				}
			}
		}
		b.logf("%s: %d sections, of which %d were chosen", source.name, len(all), len(chosen))
		t.addRow(
			source.name,
			fmt.Sprint(len(chosen)),
			fmt.Sprint(bytes),
			fmt.Sprint(marked),
			fmt.Sprintf("%.3f %%", 100*float64(marked)/float64(max(1, len(chosen)))),
		)
	}
	b.emitTable(t)
	return nil
}

// chooseSections chooses n sections of the documentation from the list all. It takes the sections with the lowest
// hashes from one half of the list. A bit of each section's hash determines the half. If f.usesTuningSections is set,
// chooseSections takes the half that is used to improve the rules. Otherwise it takes the half that is used to measure
// the rules, so that no section is used for both purposes.
func (f *instructionCheckFlags) chooseSections(all []string, n int) []string {
	type hashed struct{ hash, text string }
	var half []hashed
	for _, s := range all {
		sum := sha256.Sum256([]byte(f.seed + "\x00" + s))
		if (sum[31]&1 == 1) == f.usesTuningSections {
			half = append(half, hashed{string(sum[:]), s})
		}
	}
	slices.SortFunc(half, func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) })
	half = slices.CompactFunc(half, func(a, b hashed) bool { return a.hash == b.hash })
	var chosen []string
	for _, h := range half[:min(n, len(half))] {
		chosen = append(chosen, h.text)
	}
	return chosen
}

// Bounds of a section in bytes. A shorter section is usually a heading or a list of names.
const (
	minSectionBytes = 80
	maxSectionBytes = 4000
)

// readSectionsInDirs returns the sections of all files below the directories. The function read returns the sections of
// a file. Sections that are shorter than minSectionBytes or longer than maxSectionBytes are left out. Files that cannot
// be read or parsed are skipped. If no section remains, readSectionsInDirs returns an error.
func readSectionsInDirs(
	ctx context.Context,
	dirs []string,
	read func(path string) ([]string, error),
) (all []string, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			found, err := read(path)
			if err != nil {
				return nil
			}
			for _, s := range found {
				s = strings.TrimSpace(s)
				if len(s) >= minSectionBytes && len(s) <= maxSectionBytes {
					all = append(all, s)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no documentation found", strings.Join(dirs, ", "))
	}
	return all, nil
}

// readGoDocSections returns the doc comments of a Go file. For an HTML or Markdown file, it returns the sections of the
// page.
func readGoDocSections(path string) (sections []string, err error) {
	switch filepath.Ext(path) {
	case ".html", ".md":
		return readDocSections(path)
	case ".go":
	default:
		return nil, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(doc *ast.CommentGroup) {
		if doc != nil {
			sections = append(sections, doc.Text())
		}
	}
	add(file.Doc)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Doc)
		case *ast.GenDecl:
			add(d.Doc)
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Doc)
				case *ast.ValueSpec:
					add(s.Doc)
				}
			}
		}
	}
	return sections, nil
}

// maxFileBytes is the maximum number of bytes that are read from a file.
const maxFileBytes = 8 << 20

// readMaybeGzip returns the text of a file. If the file's name ends in .gz, readMaybeGzip decompresses
// the text.
func readMaybeGzip(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	r := io.Reader(file)
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(file)
		if err != nil {
			return "", err
		}
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFileBytes))
	return string(text), err
}

// roffMarksPattern matches the parts of a manual page's lines that are not displayed.
var roffMarksPattern = regexp.MustCompile(`\\f\([A-Z]{2}|\\f\[[^\]]*\]|\\f.|\\s[-+]?\d|\\[&/|^%:]`)

// readManPageSections returns the sections of a manual page as plain text.
func readManPageSections(path string) ([]string, error) {
	page, err := readMaybeGzip(path)
	if err != nil {
		return nil, err
	}
	var all []string
	var section strings.Builder
	for line := range strings.Lines(page) {
		macro, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch {
		case strings.HasPrefix(line, `.\"`), strings.HasPrefix(line, `'\"`):
			continue
		case slices.Contains([]string{".SH", ".SS", ".Sh", ".Ss"}, macro):
			all = append(all, section.String())
			section.Reset()
			continue
		case slices.Contains([]string{".PP", ".P", ".LP", ".Pp", ".TP", ".IP", ".sp", ".br"}, macro):
			rest = "\n" + rest
		case !strings.HasPrefix(line, "."):
			rest = strings.TrimRight(line, "\n")
		}
		rest = roffMarksPattern.ReplaceAllString(rest, "")
		section.WriteString(
			strings.NewReplacer(`\-`, "-", `\(bu`, "•", `\(aq`, "'", `\e`, `\`, `"`, "").Replace(rest) +
				"\n",
		)
	}
	return append(all, section.String()), nil
}

// Patterns for dividing Markdown and HTML documents into sections.
var (
	htmlTagsPattern = regexp.MustCompile(
		`(?is)<(?:style|script)\b.*?</(?:style|script)>|<!--.*?-->|<[^<>]{1,400}>`,
	)
	sectionStartPattern = regexp.MustCompile(`(?im)^(?:#{1,6} .*|<h[1-6][ >].*|[^\n]{3,80}\n(?:={3,}|-{3,}|~{3,})$)`)
)

var errNoDocument = errors.New("not a document")

// readDocSections returns the sections of a text, Markdown or HTML file. If the file is not documentation, such as a
// changelog, a licence, a binary file or a file with an unknown extension, the error is errNoDocument. The error is the
// same if the file cannot be read.
func readDocSections(path string) ([]string, error) {
	base := strings.ToLower(filepath.Base(path))
	name := strings.TrimSuffix(base, ".gz")
	ext := filepath.Ext(name)
	for _, other := range []string{"copyright", "changelog", "changes", "news", "license", "copying", "authors",
		"thanks"} {
		if strings.HasPrefix(name, other) {
			return nil, errNoDocument
		}
	}
	if !slices.Contains([]string{"", ".txt", ".md", ".rst", ".html", ".debian"}, ext) {
		return nil, errNoDocument
	}
	text, err := readMaybeGzip(path)
	if err != nil || strings.Contains(text, "\x00") {
		return nil, errNoDocument
	}
	var all []string
	from := 0
	for _, at := range sectionStartPattern.FindAllStringIndex(text, -1) {
		all = append(all, text[from:at[0]])
		from = at[0]
	}
	all = append(all, text[from:])
	if ext == ".html" {
		for i := range all {
			all[i] = strings.NewReplacer(
				"&lt;",
				"<",
				"&gt;",
				">",
				"&amp;",
				"&",
				"&nbsp;",
				" ",
				"&quot;",
				`"`,
			).Replace(htmlTagsPattern.ReplaceAllString(all[i], " "))
		}
	}
	return all, nil
}
