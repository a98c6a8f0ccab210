// This file holds "oxbow export" and "oxbow import".

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/exchange"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/vfs"
)

// exportOut is what an export to a file did, as JSON.
type exportOut struct {
	File    string `json:"file"`
	Entries int    `json:"entries"`
}

// importOut is what an import did, as JSON.
type importOut struct {
	DryRun   bool             `json:"dry_run,omitempty"`
	Added    int              `json:"added"`
	Updated  int              `json:"updated"`
	Same     int              `json:"same"`
	Skipped  int              `json:"skipped"`
	Changes  []importedChange `json:"changes"`
	Problems []string         `json:"problems,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
	Stale    []string         `json:"stale,omitempty"`
	More     int              `json:"more,omitempty"` // problems and notes not listed
}

type importedChange struct {
	Name string `json:"name"`
	Verb string `json:"verb"`
	Ref  string `json:"ref"`
}

// filterTerm is an argument that is a filter term, not a file.
var filterTerm = regexp.MustCompile(`^-?[a-z][a-z0-9_-]+:.`)

func (a *app) exportCommand() *cobra.Command {
	var v *flagSet
	var force bool
	c := &cobra.Command{
		Use:   "export [FILE] [FILTER…]",
		Short: "Write entries as JSON lines",
		Long: `Export writes entries as JSON, one a line, to FILE or to standard output.
Import reads it back, on this machine or another.`,
		Example: `  oxbow export > backup.jsonl
  oxbow export harbor.jsonl project:harbor
  oxbow export --kind note | jq .name`,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, terms := "", []string{}
			for _, arg := range args {
				switch {
				case filterTerm.MatchString(arg):
					terms = append(terms, arg)
				case file != "":
					return misusef("usage: "+cmd.UseLine(), "export takes one file; %q is neither that nor a filter such as tag:x", arg)
				default:
					file = arg
				}
			}
			f, err := a.filter(v, terms)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				return a.export(ctx, m, f, file, force)
			})
		},
	}
	v = newFlags[tool.ListIn](c)
	for _, name := range []string{"limit", "offset"} {
		_ = c.Flags().MarkHidden(name) // pages are for looking; an export is whole
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it is there")
	a.completeLabels(c)
	return c
}

// filter returns the filter that flags and terms make together.
func (a *app) filter(v *flagSet, terms []string) (oxbow.Filter, error) {
	for _, name := range []string{"limit", "offset"} {
		if v.given(name) {
			return oxbow.Filter{}, misusef("use a filter, such as after:2026-04", "--%s cannot be used here: an export is whole", name)
		}
	}
	for _, p := range []struct{ param, key string }{
		{"filter", ""}, {"project", oxbow.LabelProject}, {"tags", oxbow.LabelTag}, {"kind", "kind"}, {"after", "after"}, {"before", "before"},
	} {
		if !v.given(p.param) {
			continue
		}
		for _, value := range v.flag(p.param).values {
			if p.key == "" {
				terms = append(terms, value)
			} else {
				terms = append(terms, p.key+":"+fmt.Sprintf("%q", value))
			}
		}
	}
	f, err := query.ParseFilter(strings.Join(terms, " "), a.env.Now())
	return f, badArgument(err)
}

func (a *app) export(ctx context.Context, m *oxbow.Memory, f oxbow.Filter, file string, force bool) error {
	if file == "" || file == "-" {
		n, err := exchange.Export(ctx, m, f, a.env.Stdout)
		if err == nil && n == 0 {
			a.note("no entry was selected: nothing was written")
		}
		return err
	}
	path, err := a.abs(file)
	if err != nil {
		return err
	}
	if fi, err := os.Stat(path); err == nil && !force {
		if fi.IsDir() {
			return &hinted{fmt.Errorf("exporting: %s is a directory", file), "name a file in it, or use: oxbow dump " + quote(file)}
		}
		return &hinted{fmt.Errorf("exporting: %s is there already", file), "choose another name, or replace it with --force"}
	}
	n, err := writeBeside(path, func(w io.Writer) (int, error) { return exchange.Export(ctx, m, f, w) })
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(exportOut{file, n})
	}
	a.printf("exported %s to %s\n", count(n, "entry", "entries"), file)
	return nil
}

// writeBeside writes a file under another name first, so that the name never
// leads to half of it.
func writeBeside(path string, write func(io.Writer) (int, error)) (n int, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return 0, fmt.Errorf("exporting: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	n, err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return n, fmt.Errorf("exporting: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return n, fmt.Errorf("exporting: %w", err)
	}
	return n, nil
}

func (a *app) importCommand() *cobra.Command {
	var dry, overwrite bool
	var format string
	c := &cobra.Command{
		Use:   "import PATH…",
		Short: "Bring in Markdown, exports, chat logs",
		Long: `Import reads files, or all files below directories: Markdown (with front
matter or without), exports of oxbow, chat logs in JSON lines, and the file of
the MCP memory server; gzip around them is unpacked. "-" is standard input.
Importing the same again changes nothing. What cannot be taken is named with
its file and line, and the rest is taken.`,
		Example: `  oxbow import notes/
  oxbow import backup.jsonl sessions.jsonl.gz --dry-run
  oxbow export --home ~/old | oxbow import -`,
		Args: args(1, -1, "a file or directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "" {
				if _, err := exchange.ParseFormat(format); err != nil {
					return &misuse{err: err}
				}
			}
			return a.with(cmd.Context(), unlessDry(build, dry), func(ctx context.Context, m *oxbow.Memory) error {
				return a.importAll(ctx, m, args, exchange.Format(format), &exchange.ImportOptions{DryRun: dry, Overwrite: overwrite})
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be brought in and change nothing")
	c.Flags().BoolVar(&overwrite, "overwrite", false, "let what is read replace newer or edited entries of the same origin")
	c.Flags().StringVar(&format, "format", "", "read as this `FORMAT` whatever the name says: markdown, jsonl, chat")
	return c
}

func (a *app) importAll(ctx context.Context, m *oxbow.Memory, paths []string, format exchange.Format, o *exchange.ImportOptions) error {
	p := a.progress("importing")
	o.Progress = func(done int) { p.set(done, 0) }
	r, err := exchange.Import(ctx, m, a.items(paths, format), o)
	p.end()
	if err != nil && r.Added+r.Updated == 0 {
		return importError(err)
	}
	out := importOut{DryRun: o.DryRun, Added: r.Added, Updated: r.Updated, Same: r.Same, Skipped: r.Skipped,
		Changes: []importedChange{}, Problems: r.Problems, Notes: r.Notes, Stale: r.Stale, More: r.More}
	for _, c := range r.Changes {
		out.Changes = append(out.Changes, importedChange{c.Name, string(c.Verb), c.Ref})
	}
	if a.json {
		if jerr := a.printJSON(out); jerr != nil {
			return jerr
		}
	} else {
		a.showImported(&out)
	}
	if !o.DryRun {
		a.index(ctx, m, r.Added+r.Updated)
	}
	switch {
	case err != nil:
		return importError(err)
	case len(r.Problems) > 0:
		return errTold
	}
	return nil
}

func importError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &hinted{err, "check the path"}
	}
	return err
}

func (a *app) showImported(out *importOut) {
	for _, s := range out.Problems {
		a.warn("%s", clean(s))
	}
	for _, s := range out.Notes {
		a.note("%s", clean(s))
	}
	if out.More > 0 {
		a.warn("and %d more", out.More)
	}
	did := "imported"
	if out.DryRun {
		did = "would import"
		for _, c := range out.Changes {
			mark := map[string]string{string(oxbow.VerbAdd): "+", string(oxbow.VerbUpdate): "~"}[c.Verb]
			a.printf("%s %s (%s)\n", mark, c.Name, clean(c.Ref))
		}
	}
	a.printf("%s: %d added, %d updated, %d the same, %d skipped\n", did, out.Added, out.Updated, out.Same, out.Skipped)
	for i, name := range out.Stale {
		if i == 0 {
			a.note("no longer in the files they came from, and left as they are:")
		}
		a.note("  %s", name)
	}
}

// items yields what all the paths hold.
func (a *app) items(paths []string, format exchange.Format) iter.Seq2[exchange.Item, error] {
	return func(yield func(exchange.Item, error) bool) {
		for _, path := range paths {
			for it, err := range a.itemsOf(path, format) {
				if !yield(it, err) {
					return
				}
			}
		}
	}
}

func (a *app) itemsOf(path string, format exchange.Format) iter.Seq2[exchange.Item, error] {
	o := &exchange.ReadOptions{Format: format, Location: a.env.Now().Location()}
	if path == "-" {
		return exchange.ReadStream(a.env.Stdin, "standard input", o)
	}
	return func(yield func(exchange.Item, error) bool) {
		abs, err := a.abs(path)
		if err != nil {
			yield(exchange.Item{}, err)
			return
		}
		parent, name := filepath.Dir(abs), filepath.Base(abs)
		if parent == abs {
			name = "."
		}
		fsys, err := vfs.Dir(parent)
		if err != nil {
			yield(exchange.Item{}, err)
			return
		}
		defer fsys.Close()
		o.Base = a.origin(parent)
		for it, err := range exchange.Read(fsys, name, o) {
			if !yield(it, err) {
				return
			}
		}
	}
}

// origin returns what a directory is called in the origins of entries: its
// path below the project that the home belongs to, so that it is the same on
// every machine, or else its whole path.
func (a *app) origin(dir string) string {
	home, err := a.home()
	if err == nil && filepath.Base(home) == homeDir {
		rel, err := filepath.Rel(filepath.Dir(home), dir)
		switch {
		case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		case rel == ".":
			return ""
		default:
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(dir)
}
