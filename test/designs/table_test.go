// This file reads tables of rows (test cases) from testdata. The rows in the directory requirements test the
// requirements. The rows in the directory homes test memories that the original systems, whose designs oxbow
// implements, have written.

package designs

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/hook"
)

// A row is the test case for one requirement of a design document. The test executes its steps once for each of its
// doors, which are interfaces to the memory, such as the command line.
type row struct {
	id      int
	layout  string
	text    string            // requirement in one sentence
	doors   []string          // names of the interfaces to the memory with which the row is executed
	skipped map[string]string // for each other door, the reason why the row is not executed
	known   map[string]string // reasons why the row fails at present, by the name of the door
	bare    bool              // the home is not initialized before the first step
	unsound bool              // the last step leaves a damaged home, which "oxbow check" must report
	steps   []step
}

// A step is one line of a row (a test case). It is an action or a check. The name of the action or check is the first
// word.
type step struct {
	line  int
	doors []string // names of the doors (interfaces) with which the step is executed (nil means all)
	raw   string   // arguments as written in the file
	words []string
}

// allDoors returns the names of all doors. A door is a way to use oxbow, such as the command line or HTTP. The hook of
// each recorded client is a door, too.
func allDoors() []string { return append([]string{"cli", "go", "stdio", "http"}, recordedClients()...) }

// recordedClients returns the clients for which the directory internal/hook/testdata contains recorded reports of a
// hook. A test can use such a client as a door, that is, as an interface to oxbow, and sends the recorded reports
// again.
func recordedClients() []string {
	return slices.DeleteFunc(hook.Clients(), func(client string) bool {
		_, err := os.Stat(filepath.Join("../../internal/hook/testdata", client+"-work"))
		return err != nil
	})
}

// expandDoors replaces the names of groups of doors, which are interfaces for calls, by the doors of the groups. It
// keeps the names of single doors. It returns an error for other names.
func expandDoors(names []string) (doors []string, err error) {
	for _, name := range names {
		switch {
		case name == "mcp":
			doors = append(doors, "stdio", "http")
		case name == "hooks":
			doors = append(doors, recordedClients()...)
		case name == "all":
			doors = append(doors, allDoors()...)
		case slices.Contains(allDoors(), name):
			doors = append(doors, name)
		default:
			return nil, fmt.Errorf("%q is not a door", name)
		}
	}
	return doors, nil
}

// readTable reads the rows of all files in a directory of testdata.
func readTable(dir string) (rows []row, err error) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		p := tableParser{layout: strings.TrimSuffix(filepath.Base(file), ".txt"), reasons: map[string]string{}}
		if err := p.parseFile(file); err != nil {
			return nil, err
		}
		rows = append(rows, p.rows...)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return rows, nil
}

// tableParser parses a file of rows. A row is a test case, and a door is an interface to the memory with which a row is
// executed. The first word of a line specifies the meaning of the line:
//
//   - "reason" defines a named reason, which "skip" and "known" lines can use.
//   - "=" begins a row with its number and its text.
//   - "play" lists doors with which the row is executed.
//   - "skip" lists doors with which the row is not executed, and the reason.
//   - "known" lists doors with which the row fails at present, and the reason.
//   - "bare" means that the home is not initialized before the first step.
//   - "unsound" means that the home is damaged after the last step.
//
// Empty lines and lines that begin with "#" are ignored. All other lines are steps of the row.
type tableParser struct {
	layout  string
	reasons map[string]string
	rows    []row
}

func (p *tableParser) parseFile(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.parseLine(n, line); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return lines.Err()
}

func (p *tableParser) parseLine(n int, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if word == "reason" {
		name, text, found := strings.Cut(rest, ": ")
		if !found {
			return fmt.Errorf("a reason needs a name and a text")
		}
		p.reasons[name] = text
		return nil
	}
	if word == "=" {
		number, text, _ := strings.Cut(rest, " ")
		id, err := strconv.Atoi(number)
		p.rows = append(p.rows, row{id: id, layout: p.layout, text: text, skipped: map[string]string{},
			known: map[string]string{}})
		return err
	}
	if len(p.rows) == 0 {
		return fmt.Errorf("%q is not in a row", line)
	}
	r := &p.rows[len(p.rows)-1]
	switch word {
	case "play":
		doors, err := expandDoors(strings.Fields(rest))
		r.doors = append(r.doors, doors...)
		return err
	case "skip":
		return p.addReason(r.skipped, rest)
	case "known":
		return p.addReason(r.known, rest)
	case "bare":
		r.bare = true
		return nil
	case "unsound":
		r.unsound = true
		return nil
	}
	s, err := parseStep(n, line)
	r.steps = append(r.steps, s)
	return err
}

// addReason parses a text of the form "DOORS: REASON", and sets the reason of each of these doors in the map to. A door
// is a way to use oxbow, such as the command line. REASON is a key of p.reasons, or a text with at least one space.
func (p *tableParser) addReason(to map[string]string, text string) error {
	names, reason, _ := strings.Cut(text, ": ")
	doors, err := expandDoors(strings.Fields(names))
	if err != nil {
		return err
	}
	reason = cmp.Or(p.reasons[reason], reason)
	if !strings.Contains(reason, " ") {
		return fmt.Errorf("%q is not a reason", reason)
	}
	for _, door := range doors {
		to[door] = reason
	}
	return nil
}

// parseStep parses a line with a step of a table. The line may begin with names of doors in brackets, such as "[cli
// http]", if the step is only for these doors. A door is a way to use oxbow. The rest of the line consists of words. A
// quoted part of a word is a Go string.
func parseStep(n int, line string) (s step, err error) {
	s.line = n
	if rest, found := strings.CutPrefix(line, "["); found {
		names, after, _ := strings.Cut(rest, "]")
		s.doors, err = expandDoors(strings.Fields(names))
		if err != nil {
			return s, err
		}
		line = strings.TrimSpace(after)
	}
	s.raw = line
	s.words, err = splitWords(line)
	return s, err
}

func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	isOpen := false
	for line != "" {
		if line[0] == ' ' {
			if isOpen {
				words = append(words, word.String())
			}
			word.Reset()
			isOpen = false
			line = line[1:]
			continue
		}
		isOpen = true
		if line[0] != '"' {
			word.WriteByte(line[0])
			line = line[1:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		word.WriteString(text)
		line = line[len(quoted):]
	}
	if isOpen {
		words = append(words, word.String())
	}
	return words, nil
}
