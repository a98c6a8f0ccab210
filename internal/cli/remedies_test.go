// This file tests the oxbow commands that messages tell the user to type. Each command must work exactly as it is
// printed.

package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// value replaces each variable part of a message, such as the name of an entry, when a test examines the message. It is
// both a valid number and a valid name.
const value = "1"

var (
	formatVerb = regexp.MustCompile(`%[-+#0 ]*[0-9]*[a-zA-Z]`)
	// endOfCommand matches the text after a command in a sentence.
	endOfCommand = regexp.MustCompile(`[;,)` + "`" + `]|: |\.( |$)| && | · | #`)
	placeholder  = regexp.MustCompile(`^([A-Z][A-Z0-9_@]*(\.[a-z]+)?…?|[0-9]+|'[^']*'|…)$`)
	quotes       = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`)
	// template matches a word that a person must replace when typing the command.
	template     = regexp.MustCompile(`^[A-Z][A-Z0-9_@]*(\.[a-z]+)?…?$`)
	typedLine    = regexp.MustCompile(`(?m)^(?:\[.*\] )?typed '(.*)'$`)
	commandStart = regexp.MustCompile(`(?:^|[\s;,:("'` + "`" + `])oxbow ([a-z]+)`)
	// question matches the end of a text before the name oxbow, if the text is a question about oxbow.
	question = regexp.MustCompile(`(?i)\b(does|will|would)$`)
)

// notCommands contains words that follow the name oxbow in sentences about oxbow.
var notCommands = strings.Fields(
	`are before memory out reads vectors with and answers anew as at by can cannot did does for has have if in is
	itself keeps may must now on or
	prints program records runs server set showed shows signed signs so store takes that the to was would writes wrote
	also asks checks compares estimates from makes never recognizes refuses sends stores uses`,
)

// statements contains words that can follow a command in a message. Such a word shows that the message only reports
// what the command did. The message does not advise the user to type the command.
var statements = []string{"could", "named", "would", "wrote"}

// textOf returns the text of a string expression, and whether the expression is a string. It replaces parts that are
// not constant, and verbs such as %s, by the constant value.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return formatVerb.ReplaceAllString(s, value), err == nil
	case *ast.ParenExpr:
		return textOf(e.X)
	case *ast.BinaryExpr:
		left, ok := textOf(e.X)
		right, also := textOf(e.Y)
		if e.Op != token.ADD || (!ok && !also) {
			return "", false
		}
		if !ok {
			left = value
		}
		if !also {
			right = value
		}
		return left + right, true
	}
	return "", false
}

// eachText calls the function found for each string in the Go source files below the module's root. Test files, hidden
// directories, and the directories testdata, test and jetstream are skipped. The argument at is the position in the
// source, and text is the string. The argument inHelp is true if the string belongs to the help of a command or is the
// tag of a struct field.
func eachText(t *testing.T, found func(at, text string, inHelp bool)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		isHidden := strings.HasPrefix(name, ".") && path != root
		if d.IsDir() && (isHidden || slices.Contains([]string{"testdata", "test", "jetstream"}, name)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		var visit func(n ast.Node, inHelp bool)
		visit = func(n ast.Node, inHelp bool) {
			ast.Inspect(n, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					key, _ := n.Key.(*ast.Ident)
					switch {
					case key == nil:
					case key.Name == "Example": // TestExamples runs the examples.
						return false
					case key.Name == "Long" || key.Name == "Short":
						visit(n.Value, true)
						return false
					}
				case *ast.Field:
					if n.Tag != nil {
						found(fmt.Sprint(set.Position(n.Pos())), n.Tag.Value, true)
						n.Tag = nil
					}
				case ast.Expr:
					if text, ok := textOf(n); ok {
						found(fmt.Sprint(set.Position(n.Pos())), text, inHelp)
						return false
					}
				}
				return true
			})
		}
		visit(file, false)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commandsIn returns the commands of oxbow in a text. It also returns problems, each of which describes words after
// the name oxbow that are neither a command nor part of a sentence about oxbow.
func commandsIn(root *cobra.Command, text string, inHelp bool) (commands [][]string, problems []string) {
	for _, at := range commandStart.FindAllStringSubmatchIndex(text, -1) {
		if question.MatchString(text[:at[0]]) {
			continue
		}
		rest := quotes.ReplaceAllString(text[at[2]:], value)
		if inHelp {
			rest = strings.ReplaceAll(rest, "\n", " ")
		}
		rest, _, _ = strings.Cut(rest, "\n")
		if end := endOfCommand.FindStringIndex(rest); end != nil {
			rest = rest[:end[0]]
		}
		words := strings.Fields(strings.TrimRight(rest, ".\""))
		c, path := root, 0
		for path < len(words) {
			next := child(c, words[path])
			if next == nil {
				break
			}
			c = next
			path++
		}
		if path == 0 {
			word := strings.TrimSuffix(words[0], "'s")
			if child(root, word) == nil && !slices.Contains(notCommands, word) {
				problems = append(problems, fmt.Sprintf("%q is no command: %q", word, text))
			}
			continue
		}
		end, takesValue := path, false
		for end < len(words) {
			word := words[end]
			isFlag := strings.HasPrefix(word, "-")
			if !isFlag && !takesValue && !placeholder.MatchString(word) {
				break
			}
			takesValue = false
			if name := strings.TrimLeft(word, "-"); isFlag && !strings.Contains(name, "=") {
				f := c.Flags().Lookup(name)
				if f == nil {
					f = c.InheritedFlags().Lookup(name)
				}
				takesValue = f != nil && f.NoOptDefVal == ""
			}
			end++
		}
		if c.Args != nil && end < len(words) && strings.Contains(text, "for example:") {
			end = len(words)
		}
		if end == len(words) || !slices.Contains(statements, words[end]) {
			commands = append(commands, words[:end])
		}
	}
	return commands, problems
}

func child(c *cobra.Command, name string) *cobra.Command {
	for _, sub := range c.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// TestPrintedCommands checks each command of oxbow that occurs in a string of the program. The command must exist, with
// the flags and arguments with which it is printed.
//
// If a message prints a command that can be typed as it is, testdata/remedies.txt must contain a row with the command.
// The row begins with the name of the script that causes the message and types the command. If no script types the
// command, the row begins with "parsed".
func TestPrintedCommands(t *testing.T) {
	env := newWorld(t).env
	tree := func() *cobra.Command {
		root := newLazyMemory(env).rootCommand(Run)
		root.InitDefaultHelpCmd()
		return root
	}
	names, messages := tree(), map[string]string{}
	eachText(t, func(at, text string, inHelp bool) {
		commands, problems := commandsIn(names, text, inHelp)
		for _, p := range problems {
			t.Errorf("%s: %s", at, p)
		}
		for _, words := range commands {
			command := "oxbow " + strings.Join(words, " ")
			if err := parse(tree(), words, inHelp); err != nil {
				t.Errorf("%s: %q cannot be typed: %v: %q", at, command, err, text)
			}
			if !inHelp && !slices.ContainsFunc(words, template.MatchString) {
				messages[command] = at
			}
		}
	})
	rows, parsed := remedyRows(t), 0
	for command, at := range messages {
		if rows[command] == "" {
			t.Errorf("%s: testdata/remedies.txt has no row for %q", at, command)
		}
	}
	for command, proof := range rows {
		switch {
		case messages[command] == "":
			t.Errorf("testdata/remedies.txt: no message prints %q", command)
		case proof == "parsed":
			parsed++
		case !isTyped(t, proof, command):
			t.Errorf("testdata/remedies.txt: the script %s does not type %q", proof, command)
		}
	}
	t.Logf("messages print %d commands; scripts type %d of them", len(rows), len(rows)-parsed)
}

// parse returns an error if the command line in words is not valid for the root command. It replaces placeholders in
// words by a value before it parses the flags. If inHelp is true, the command line comes from a help text, so its
// arguments may be missing.
func parse(root *cobra.Command, words []string, inHelp bool) error {
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	for i, word := range rest {
		if template.MatchString(word) || word == "…" {
			rest[i] = value
		}
	}
	if slices.Contains(rest, "--help") {
		return nil
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if c.Args == nil || inHelp {
		return nil
	}
	return c.Args(c, c.Flags().Args())
}

// remedyRows returns the rows of testdata/remedies.txt. Each key is a command. Each value is the name of the script
// that types the command, or "parsed" if no script types it.
func remedyRows(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "remedies.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		proof, command, ok := strings.Cut(line, " ")
		if !ok || rows[command] != "" {
			t.Errorf("testdata/remedies.txt: %q is no row, or there is another for its command", line)
		}
		rows[command] = proof
	}
	return rows
}

// isTyped reports whether a script types a command. A line "typed PATTERN" of the script must match the whole command.
func isTyped(t *testing.T, script, command string) bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "script", script))
	if err != nil {
		t.Error(err)
	}
	for _, m := range typedLine.FindAllStringSubmatch(string(b), -1) {
		if found := regexp.MustCompile(m[1]).FindString(command); found == command {
			return true
		}
	}
	return false
}
