// This file walks a command line of a shell.

package reading

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unknownWord stands for a word whose value is not known before the command runs.
const unknownWord = "\x00"

const (
	maxNested = 8  // command lines in command lines
	maxValues = 64 // of one word
)

// shell is a command line that is walked.
type shell struct {
	j       *judge
	dir     string              // "" if it is not known
	vars    map[string][]string // values that were assigned
	printed string              // what the whole command line printed
	nested  int
	piped   bool // the standard input is the output of a program before
	walked  bool // the paths are directories of which each file is read
}

// command judges a command line.
func (j *judge) command(line, printed string) {
	s := shell{j: j, dir: j.tree.dir, vars: map[string][]string{}, printed: printed}
	s.run(line)
}

// run walks a command line. A line that cannot be parsed, such as one of PowerShell, is cut
// at the signs that separate commands in most shells.
func (s *shell) run(line string) {
	if s.nested++; s.nested > maxNested {
		s.j.raise(Foreign, line)
		return
	}
	defer func() { s.nested-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err == nil {
		s.stmts(file.Stmts)
		return
	}
	s.j.raise(Unvouched, line)
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;&\n(){}`", r) }) {
		words := strings.Fields(part)
		for i, w := range words {
			words[i] = strings.Trim(w, `"'<`)
		}
		s.simple(words)
	}
}

func (s *shell) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		s.stmt(st)
	}
}

// sub walks statements that cannot change the directory or variables of what follows.
func (s *shell) sub(list []*syntax.Stmt) {
	inner := *s
	inner.vars = maps.Clone(s.vars)
	inner.stmts(list)
}

func (s *shell) stmt(st *syntax.Stmt) {
	before := *s.j
	s.j.level = Own
	if st.Cmd != nil {
		s.cmd(st.Cmd)
	}
	for _, r := range st.Redirs {
		s.redirect(r)
	}
	if s.j.level <= before.level {
		s.j.level, s.j.what = before.level, before.what
	}
}

// redirect judges what a redirection reads, and notes what it writes.
func (s *shell) redirect(r *syntax.Redirect) {
	if r.Hdoc != nil {
		s.word(r.Hdoc)
	}
	if r.Word == nil {
		return
	}
	values := s.word(r.Word)
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		s.read(values, "< "+strings.Join(values, " "))
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		s.output(values, s.j.level == Own)
	}
}

func (s *shell) cmd(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		s.call(c)
	case *syntax.BinaryCmd:
		s.stmt(c.X)
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			s.stmt(c.Y)
			return
		}
		level, was := s.j.level, s.piped
		s.piped = true
		s.stmtAfter(c.Y, level)
		s.piped = was
	case *syntax.Subshell:
		s.sub(c.Stmts)
	case *syntax.Block:
		s.stmts(c.Stmts)
	case *syntax.IfClause:
		for c := c; c != nil; c = c.Else {
			s.stmts(c.Cond)
			s.stmts(c.Then)
		}
	case *syntax.WhileClause:
		s.stmts(c.Cond)
		s.stmts(c.Do)
	case *syntax.ForClause:
		if loop, ok := c.Loop.(*syntax.WordIter); ok {
			var values []string
			for _, w := range loop.Items {
				values = append(values, s.word(w)...)
			}
			s.vars[loop.Name.Value] = values[:min(len(values), maxValues)]
		}
		s.stmts(c.Do)
	case *syntax.CaseClause:
		s.word(c.Word)
		for _, item := range c.Items {
			s.stmts(item.Stmts)
		}
	case *syntax.FuncDecl:
		s.stmt(c.Body)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		s.stmt(c.Stmt)
	case *syntax.DeclClause:
		s.assign(c.Args)
	default: // tests and arithmetic, which may hold commands
		s.inside(c)
	}
}

// stmtAfter judges a statement that reads the output of another of a level: what it writes
// is no more the agent's than that.
func (s *shell) stmtAfter(st *syntax.Stmt, level Level) {
	writes := len(s.j.own)
	s.stmt(st)
	if level != Own {
		s.j.other = append(s.j.other, s.j.own[writes:]...)
		s.j.own = s.j.own[:writes]
	}
}

// inside walks the commands in a node.
func (s *shell) inside(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.sub(n.Stmts)
			return false
		case *syntax.ProcSubst:
			s.sub(n.Stmts)
			return false
		}
		return true
	})
}

func (s *shell) assign(as []*syntax.Assign) {
	for _, a := range as {
		switch {
		case a.Array != nil:
			s.inside(a.Array)
		case a.Value != nil && a.Name != nil:
			s.vars[a.Name.Value] = s.word(a.Value)
		case a.Value != nil:
			s.word(a.Value)
		}
	}
}

func (s *shell) call(c *syntax.CallExpr) {
	s.assign(c.Assigns)
	var words []string
	for _, w := range c.Args {
		for _, split := range braces(w) {
			words = append(words, s.word(split)...)
		}
	}
	s.simple(words)
}

// braces returns the words that a word with braces means. A sequence such as {1..9} stays
// unknown.
func braces(w *syntax.Word) []*syntax.Word {
	words := []*syntax.Word{{}}
	syntax.SplitBraces(w)
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for _, front := range words {
				front.Parts = append(front.Parts, p)
			}
			continue
		}
		var next []*syntax.Word
		for _, e := range b.Elems {
			ends := braces(e)
			if b.Sequence {
				ends = []*syntax.Word{{Parts: []syntax.WordPart{&syntax.ParamExp{Param: &syntax.Lit{Value: "a sequence"}}}}}
			}
			for _, front := range words {
				for _, end := range ends {
					if len(next) < maxValues {
						next = append(next, &syntax.Word{Parts: slices.Concat(front.Parts, end.Parts)})
					}
				}
			}
		}
		words = next
	}
	return words
}

// word returns the values of a word, and walks the commands in it. A value that is not
// known is unknownWord.
func (s *shell) word(w *syntax.Word) []string {
	values := s.parts(w.Parts)
	var all []string
	for _, v := range values {
		switch {
		case strings.Contains(v, unknownWord):
			all = append(all, unknownWord)
		case v == "~" || strings.HasPrefix(v, "~/"):
			all = append(all, s.home()+v[1:])
		default:
			all = append(all, v)
		}
	}
	return all[:min(len(all), maxValues)]
}

func (s *shell) home() string {
	if s.j.Getenv != nil {
		if h := s.j.Getenv("HOME"); h != "" {
			return h
		}
	}
	return "/nowhere"
}

// parts returns the values of parts of a word that follow each other.
func (s *shell) parts(ps []syntax.WordPart) []string {
	values := []string{""}
	for _, p := range ps {
		var next []string
		for _, v := range s.part(p) {
			for _, front := range values {
				if len(next) < maxValues {
					next = append(next, front+v)
				}
			}
		}
		values = next
	}
	return values
}

func (s *shell) part(p syntax.WordPart) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{unquoted(p.Value)}
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return []string{unknownWord}
		}
		return []string{p.Value}
	case *syntax.DblQuoted:
		return s.parts(p.Parts)
	case *syntax.ParamExp:
		s.inside(p)
		if p.Param != nil && p.Excl == false && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil {
			return s.variable(p.Param.Value)
		}
	case *syntax.CmdSubst:
		s.sub(p.Stmts)
	case *syntax.ProcSubst:
		s.sub(p.Stmts)
		return []string{"/dev/null"} // what it reads is judged already
	default:
		s.inside(p)
	}
	return []string{unknownWord}
}

// variable returns the values of a variable.
func (s *shell) variable(name string) []string {
	if v, ok := s.vars[name]; ok {
		if len(v) == 0 {
			return []string{""}
		}
		return v
	}
	switch name {
	case "PWD":
		if s.dir != "" {
			return []string{s.dir}
		}
	case "HOME":
		return []string{s.home()}
	case "TMPDIR":
		return []string{os.TempDir()}
	case "?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO":
		return []string{"0"}
	}
	return []string{unknownWord}
}

// unquoted returns a literal without its backslashes.
func unquoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (s *shell) changeDir(args []string) {
	rest := operands(args)
	switch {
	case len(rest) == 0:
		s.dir = s.home()
	case rest[0] == unknownWord || rest[0] == "-":
		s.dir = ""
	case filepath.IsAbs(rest[0]):
		s.dir = filepath.Clean(rest[0])
	case s.dir != "":
		s.dir = filepath.Join(s.dir, rest[0])
	}
}

// wrapped judges the program that another one runs.
func (s *shell) wrapped(name string, args []string) {
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || name == "env" && strings.Contains(args[0], "=") || isDuration(args[0])) {
		option := args[0]
		args = args[1:]
		takesValue := slices.Contains([]string{"-u", "-g", "-C", "-n", "-I", "-L", "-P", "-d", "-s", "-k", "-S", "--signal", "-a", "-c", "-i", "-o", "-e", "-E", "-p"}, option)
		isFlag := name == "env" && option == "-i" || name == "sudo" && slices.Contains([]string{"-E", "-n", "-S", "-k", "-i", "-s"}, option) || name == "xargs" && (option == "-i" || option == "-p") ||
			name == "time" || name == "exec" && option == "-c" || name == "watch" && option == "-e"
		if name == "script" && option == "-c" || name == "env" && (option == "-S") || name == "flock" && option == "-c" {
			if len(args) > 0 {
				s.run(args[0])
			}
			return
		}
		if takesValue && !isFlag && len(args) > 0 {
			args = args[1:]
		}
	}
	switch name {
	case "flock", "chroot", "taskset", "chrt":
		if len(args) > 0 {
			args = args[1:]
		}
	case "watch":
		s.run(strings.Join(args, " "))
		return
	case "xargs", "parallel":
		if len(args) > 0 {
			args = append(slices.Clone(args), unknownWord) // of the standard input
		}
	case "mise", "direnv":
		if len(args) > 1 {
			args = args[2:]
		}
	}
	s.simple(args)
}

// isDuration reports whether a word is a number with a unit, as timeout takes it.
func isDuration(w string) bool {
	return w != "" && strings.Trim(strings.TrimRight(w, "smhd"), "0123456789.") == "" && w[0] >= '0' && w[0] <= '9'
}

// shellProgram judges a shell that is run with arguments.
func (s *shell) shellProgram(args []string, what string) {
	for i, a := range args {
		isCommand := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") || strings.EqualFold(a, "-Command") || strings.EqualFold(a, "/c")
		switch {
		case isCommand && i+1 < len(args) && args[i+1] != unknownWord:
			inner := *s
			inner.vars = maps.Clone(s.vars)
			inner.run(args[i+1])
			return
		case isCommand, !strings.HasPrefix(a, "-"):
			s.j.raise(Unvouched, what)
			return
		}
	}
	s.j.raise(Unvouched, what) // it runs its standard input
}

// read judges files that a program reads. A name that begins with a question mark is one
// only if the file is there.
func (s *shell) read(files []string, what string) {
	s.j.readFiles(s.dir, s.filesOf(files), what)
	if slices.Contains(files, unknownWord) {
		s.j.raise(Foreign, what)
	}
}

// search judges files and directories that a program searches.
func (s *shell) search(files []string, what string) {
	if slices.Contains(files, unknownWord) {
		s.j.raise(Foreign, what)
	}
	s.j.searchFiles(s.dir, s.filesOf(files), s.printed, what)
}

// filesOf returns the files that words name, with patterns resolved.
func (s *shell) filesOf(words []string) (files []string) {
	for _, w := range words {
		optional := strings.HasPrefix(w, "?") && len(w) > 1
		if w = strings.TrimPrefix(w, "?"); w == unknownWord || w == "" || w == "-" {
			continue
		}
		at := w
		if !filepath.IsAbs(at) && s.dir != "" {
			at = filepath.Join(s.dir, at)
		}
		if strings.ContainsAny(w, "*?[") {
			if found, err := filepath.Glob(at); err == nil && len(found) > 0 {
				files = append(files, found[:min(len(found), maxNamed)]...)
				continue
			}
		}
		if optional && !exists(at) {
			continue
		}
		files = append(files, w)
	}
	return files
}

// there reports whether a file is there, below the directory of the command.
func (s *shell) there(name string) bool {
	return filepath.IsAbs(name) && exists(name) || s.dir != "" && exists(filepath.Join(s.dir, name))
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// output notes files into which a command writes.
func (s *shell) output(files []string, byAgent bool) {
	if s.dir == "" {
		return
	}
	for _, f := range s.filesOf(files) {
		if !isDevice(f) {
			s.j.wrote(byAgent, absolute(s.dir, []string{f})...)
		}
	}
}
