// This file maintains docs/benchmarks.md, the page with the measurements. The results file contains one recorded table
// in each JSON line. The tables in docs/benchmarks.md are generated from the results file.

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
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// resultsFile and benchmarksPageFile are the paths of the results and the page, relative to this module's directory.
const (
	resultsFile        = "results.jsonl"
	benchmarksPageFile = "../../docs/benchmarks.md"
)

// recordedTable is a measured table. It is one line of the results file.
type recordedTable struct {
	Name    string     `json:"name"`    // name of the table in docs/benchmarks.md, such as recall or recall/2
	Command string     `json:"command"` // command line that repeats the measurement
	Date    string     `json:"date"`
	Machine string     `json:"machine"`
	Head    []string   `json:"head"`
	Rows    [][]string `json:"rows"`
}

// tableRecorder collects the tables that a command prints, for --record. Date and machine are determined
// before the command starts, so that the machine's load does not include the command.
type tableRecorder struct {
	name, command, date, machine string

	results []recordedTable
}

// addTable records a table. The second table of a command is called NAME/2.
func (r *tableRecorder) addTable(t *markdownTable) {
	name := r.name
	if n := len(r.results) + 1; n > 1 {
		name += "/" + strconv.Itoa(n)
	}
	r.results = append(r.results, recordedTable{name, r.command, r.date, r.machine, t.head, t.rows})
}

// save stores the collected tables in a file. It removes the old tables with the name r.name, or with a name that
// begins with r.name and a slash. Other tables are kept. save returns an error if no table was collected.
func (r *tableRecorder) save(file string) error {
	if len(r.results) == 0 {
		return fmt.Errorf("%s printed no table to record", r.command)
	}
	old, err := readResults(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all := slices.DeleteFunc(old, func(x recordedTable) bool {
		return x.Name == r.name || strings.HasPrefix(x.Name, r.name+"/")
	})
	all = append(all, r.results...)
	slices.SortStableFunc(all, func(a, b recordedTable) int { return cmp.Compare(a.Name, b.Name) })
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

// buildTags returns the build tags of this program, in the form that go run accepts.
func buildTags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return ""
}

// commandLine returns the command line that the documentation page shows for a measurement. It leaves out --record and
// replaces absolute paths by DIR.
func commandLine(tags string, args []string) string {
	line := "go run ."
	if tags != "" {
		line = "go run -tags " + tags + " ."
	}
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

// readResults reads a results file. It returns an error for an invalid table and for a name that occurs
// twice.
func readResults(file string) ([]recordedTable, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []recordedTable
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, len(b)+1)
	for n := 1; lines.Scan(); n++ {
		var x recordedTable
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
			return nil, fmt.Errorf(
				"%s:%d: table %q has no name of its own, no command, no date, or a row that does not fit its head",
				file,
				n,
				x.Name,
			)
		}
		seen[x.Name] = true
		all = append(all, x)
	}
	return all, lines.Err()
}

// tableSlotPattern matches the place of a table in a page: <!-- table NAME 1 3 4 /PATTERN/ --> … <!-- end -->. The
// numbers select columns. The pattern selects rows by their cells joined with "|". Without them, all
// columns and rows are selected.
var tableSlotPattern = regexp.MustCompile(`(?s)<!-- table (\S+)((?: \d+)*)(?: /([^\n]*)/)? -->\n.*?<!-- end -->`)

// replacePageTables returns the page with its tables replaced by tables made from the results. Comments in the page
// mark where each table begins and ends. These are errors: the results lack a table that the page names, no table of
// the page shows a result, or the end of a table is not marked.
func replacePageTables(page string, results []recordedTable) (string, error) {
	shown := map[string]bool{}
	var wrong []error
	if begun, read := strings.Count(page, "<!-- table"), len(tableSlotPattern.FindAllString(page, -1)); begun != read {
		wrong = append(
			wrong,
			fmt.Errorf(
				"the page begins %d tables, and %d are <!-- table NAME COLUMN… /PATTERN/ --> with an <!-- end --> of "+
					"their own",
				begun,
				read,
			),
		)
	}
	var last recordedTable // result of the previous table
	page = tableSlotPattern.ReplaceAllStringFunc(page, func(old string) string {
		m := tableSlotPattern.FindStringSubmatch(old)
		i := slices.IndexFunc(results, func(x recordedTable) bool { return x.Name == m[1] })
		if i < 0 {
			wrong = append(
				wrong,
				fmt.Errorf(
					"the page wants table %s, and no result has that name: run the measurement with --record %s",
					m[1],
					m[1],
				),
			)
			return old
		}
		name, _, _ := strings.Cut(m[1], "/")
		shown[name] = true
		x := results[i]
		text, err := x.markdown(strings.Fields(m[2]), m[3])
		if err != nil {
			wrong = append(wrong, err)
		}
		head, _, _ := strings.Cut(old, "\n")
		head += "\n" + x.measurementOriginLine(last)
		last = x
		return head + text + "<!-- end -->"
	})
	for _, x := range results {
		if name, _, _ := strings.Cut(x.Name, "/"); !shown[name] {
			wrong = append(wrong, fmt.Errorf("the page shows no table of %s", name))
		}
	}
	return page, errors.Join(wrong...)
}

// measurementOriginLine returns the line that tells how, when and where the table was measured. It returns "" if the
// line would be the same as for the table before.
func (x recordedTable) measurementOriginLine(previousTable recordedTable) string {
	on, load, _ := strings.Cut(x.Machine, ", load")
	if last, _, _ := strings.Cut(previousTable.Machine, ", load"); on == last {
		if x.Command == previousTable.Command && x.Date == previousTable.Date {
			return ""
		}
		on = "as above"
	}
	if load != "" {
		on += ", load" + load
	}
	return fmt.Sprintf("`%s` · %s · %s\n\n", x.Command, x.Date, on)
}

// markdown returns a part of the table in Markdown. The list columns contains the numbers of the columns to return,
// from 1. If columns is empty, all columns are returned. The parameter rowPattern is a regular expression that selects
// the rows. To test a row, markdown joins all cells of the row with "|" and matches the expression against the joined
// text. markdown returns an error if a column does not exist, if the expression is not valid, or if no row matches.
func (x recordedTable) markdown(columns []string, rowPattern string) (string, error) {
	wanted, err := regexp.Compile(rowPattern)
	if err != nil {
		return "", fmt.Errorf("table %s: %w", x.Name, err)
	}
	var pick []int
	for _, c := range columns {
		n, err := strconv.Atoi(c)
		isColumn := err == nil && n >= 1 && n <= len(x.Head)
		if !isColumn {
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
		if wanted.MatchString(strings.Join(r, "|")) {
			t.addRow(chosen(r)...)
		}
	}
	if len(t.rows) == 0 {
		return "", fmt.Errorf("table %s has no row with %q", x.Name, rowPattern)
	}
	var b strings.Builder
	t.print(&b)
	return b.String(), nil
}

// pageCommand implements the command "page". This command updates the tables in the documentation page about
// performance.
func pageCommand(b *bench, fs *flag.FlagSet) func(context.Context) error {
	return func(context.Context) error {
		results, err := readResults(resultsFile)
		if err != nil {
			return err
		}
		old, err := os.ReadFile(benchmarksPageFile)
		if err != nil {
			return fmt.Errorf("reading the page (run in the directory test/bench): %w", err)
		}
		page, err := replacePageTables(string(old), results)
		if err != nil {
			return err
		}
		return os.WriteFile(benchmarksPageFile, []byte(page), 0o644)
	}
}
