// The page of measurements: results that commands recorded, one table a line of
// JSON, and the tables of docs/benchmarks.md, which are made of them.

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// resultsFile and pageFile are where results and the page are, seen from the
// directory of this module.
const (
	resultsFile = "results.jsonl"
	pageFile    = "../docs/benchmarks.md"
)

// result is one table as it was measured, a line of the file of results.
type result struct {
	Name    string     `json:"name"`    // what the page calls it: recall, recall/2
	Command string     `json:"command"` // what repeats it
	Date    string     `json:"date"`
	Machine string     `json:"machine"`
	Head    []string   `json:"head"`
	Rows    [][]string `json:"rows"`
}

// recorder collects the tables that a command prints, for --record.
type recorder struct {
	name    string
	command string
	now     func() time.Time
	results []result
}

// add keeps a table. The second of a command is NAME/2.
func (r *recorder) add(t *table) {
	name := r.name
	if n := len(r.results) + 1; n > 1 {
		name += "/" + strconv.Itoa(n)
	}
	r.results = append(r.results, result{name, r.command, r.now().UTC().Format(time.DateOnly),
		machine(runtime.GOOS, os.ReadFile, os.TempDir()), t.head, t.rows})
}

// save puts what was collected in the place of the results of the same name.
func (r *recorder) save(file string) error {
	if len(r.results) == 0 {
		return fmt.Errorf("%s printed no table to record", r.command)
	}
	old, err := readResults(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all := slices.DeleteFunc(old, func(x result) bool {
		return x.Name == r.name || strings.HasPrefix(x.Name, r.name+"/")
	})
	all = append(all, r.results...)
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(a.Name, b.Name) })
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	for _, x := range all {
		if err := e.Encode(x); err != nil {
			return err
		}
	}
	return os.WriteFile(file, buf.Bytes(), 0o644)
}

// commandLine returns how a command was called, as a page may show it: with DIR
// in the place of paths of this machine, and without --record.
func commandLine(args []string) string {
	line := "go run ."
	for i := 0; i < len(args); i++ {
		a := args[i]
		if name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "="); name == "record" {
			if !strings.Contains(a, "=") {
				i++
			}
			continue
		}
		if repo, path, ok := strings.Cut(a, "="); ok && filepath.IsAbs(path) {
			a = repo + "=DIR"
		} else if filepath.IsAbs(a) {
			a = "DIR"
		}
		line += " " + a
	}
	return line
}

// readResults reads a file of results and refuses a table that is not one, and
// a name that is there twice.
func readResults(file string) ([]result, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []result
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, len(b)+1)
	for n := 1; lines.Scan(); n++ {
		var x result
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&x); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		bad := x.Name == "" || x.Command == "" || x.Date == "" || len(x.Head) == 0 || len(x.Rows) == 0 || seen[x.Name]
		for _, r := range x.Rows {
			bad = bad || len(r) != len(x.Head)
		}
		if bad {
			return nil, fmt.Errorf("%s:%d: table %q has no name of its own, no command, no date, or a row that does not fit its head", file, n, x.Name)
		}
		seen[x.Name] = true
		all = append(all, x)
	}
	return all, lines.Err()
}

// slot is the place of a table in a page: <!-- table NAME 1 3 4 /PATTERN/ --> …
// <!-- end -->, where the numbers choose columns, and the pattern rows by the text
// of one of their cells; all without any.
var slot = regexp.MustCompile(`(?s)<!-- table (\S+)((?: \d+)*)(?: /([^\n]*)/)? -->\n.*?<!-- end -->`)

// fillPage returns the page with its tables made from the results. A name that no
// result has is an error, and so is a measurement of which the page shows nothing.
func fillPage(page string, results []result) (string, error) {
	shown := map[string]bool{}
	var wrong []error
	last := "" // machine that the page names
	page = slot.ReplaceAllStringFunc(page, func(old string) string {
		m := slot.FindStringSubmatch(old)
		i := slices.IndexFunc(results, func(x result) bool { return x.Name == m[1] })
		if i < 0 {
			wrong = append(wrong, fmt.Errorf("the page wants table %s, and no result has that name: run the measurement with --record %s", m[1], m[1]))
			return old
		}
		name, _, _ := strings.Cut(m[1], "/")
		shown[name] = true
		x := results[i]
		on, _, _ := strings.Cut(x.Machine, ", load")
		if on == last {
			x.Machine = "as above" + x.Machine[len(on):]
		}
		last = on
		text, err := x.markdown(strings.Fields(m[2]), m[3])
		if err != nil {
			wrong = append(wrong, err)
		}
		head, _, _ := strings.Cut(old, "\n")
		return head + "\n" + text + "<!-- end -->"
	})
	for _, x := range results {
		if name, _, _ := strings.Cut(x.Name, "/"); !shown[name] {
			wrong = append(wrong, fmt.Errorf("the page shows no table of %s", name))
		}
	}
	return page, errors.Join(wrong...)
}

// markdown returns the table with where and when it was taken.
func (x result) markdown(columns []string, rows string) (string, error) {
	wanted, err := regexp.Compile(rows)
	if err != nil {
		return "", fmt.Errorf("table %s: %w", x.Name, err)
	}
	var pick []int
	for _, c := range columns {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 || n > len(x.Head) {
			return "", fmt.Errorf("table %s has columns 1 to %d, not %s", x.Name, len(x.Head), c)
		}
		pick = append(pick, n-1)
	}
	chosen := func(row []string) []string {
		if pick == nil {
			return row
		}
		var out []string
		for _, i := range pick {
			out = append(out, row[i])
		}
		return out
	}
	t := newTable(chosen(x.Head)...)
	for _, r := range x.Rows {
		if slices.ContainsFunc(r, wanted.MatchString) {
			t.row(chosen(r)...)
		}
	}
	if len(t.rows) == 0 {
		return "", fmt.Errorf("table %s has no row with %q", x.Name, rows)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` · %s · %s\n\n", x.Command, x.Date, x.Machine)
	t.print(&b)
	return b.String(), nil
}

// pageCommand writes the tables of the page.
func pageCommand(b *bench, fs *flag.FlagSet) func(context.Context) error {
	return func(context.Context) error {
		results, err := readResults(resultsFile)
		if err != nil {
			return err
		}
		old, err := os.ReadFile(pageFile)
		if err != nil {
			return fmt.Errorf("reading the page (run in the directory bench): %w", err)
		}
		page, err := fillPage(string(old), results)
		if err != nil {
			return err
		}
		return os.WriteFile(pageFile, []byte(page), 0o644)
	}
}
