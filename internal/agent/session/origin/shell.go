// This file judges the statements of a shell command line.

package origin

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNested is the maximum depth of command lines within command lines.
const maxNested = 8

// command judges a command line and its output.
func (j *judge) command(line, printed string) {
	s := shell{j: j, dir: j.tree.dir, vars: map[string][]string{}, printed: printed}
	s.run(line)
}

// run judges a command line. A line that is not valid in a Unix shell, such as a PowerShell line,
// is unvouched and is split at the characters that separate commands in most shells.
func (s *shell) run(line string) {
	s.nested++
	if s.nested > maxNested {
		s.j.raise(Foreign, line)
		return
	}
	defer func() { s.nested-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err == nil {
		s.judgeStatements(file.Stmts)
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

func (s *shell) judgeStatements(list []*syntax.Stmt) {
	for _, st := range list {
		s.stmt(st)
	}
}

// sub judges statements that cannot change the directory or the variables of the statements after
// them.
func (s *shell) sub(list []*syntax.Stmt) {
	inner := *s
	inner.vars = maps.Clone(s.vars)
	inner.judgeStatements(list)
}

// stmt judges a statement. A file that the statement writes counts as the agent's own text only if
// the statement reads nothing but the agent's own text.
func (s *shell) stmt(st *syntax.Stmt) {
	oldLevel, oldWhat := s.j.level, s.j.what
	s.j.level = Own
	if st.Cmd != nil {
		s.cmd(st.Cmd)
	}
	for _, r := range st.Redirs {
		s.redirect(r)
	}
	if s.j.level <= oldLevel {
		s.j.level, s.j.what = oldLevel, oldWhat
	}
}

// redirect judges the file that a redirection reads, and records the file that it writes.
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
		s.readFiles(values, "< "+strings.Join(values, " "))
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		s.write(values, s.j.level == Own)
	}
}

func (s *shell) cmd(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		s.call(c)
	case *syntax.BinaryCmd:
		s.binary(c)
	case *syntax.Subshell:
		s.sub(c.Stmts)
	case *syntax.Block:
		s.judgeStatements(c.Stmts)
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
	default:
		s.judgeCompound(c)
	}
}

// judgeCompound judges all statements within a compound statement.
func (s *shell) judgeCompound(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.IfClause:
		for c := c; c != nil; c = c.Else {
			s.judgeStatements(c.Cond)
			s.judgeStatements(c.Then)
		}
	case *syntax.WhileClause:
		for range 2 { // twice, because values of the first round may be used in the second
			s.judgeStatements(c.Cond)
			s.judgeStatements(c.Do)
		}
	case *syntax.ForClause:
		s.loopVariable(c.Loop)
		for range 2 {
			s.judgeStatements(c.Do)
		}
	case *syntax.CaseClause:
		s.word(c.Word)
		for _, item := range c.Items {
			s.judgeStatements(item.Stmts)
		}
	default: // tests and arithmetic, which may contain commands
		s.inside(c)
	}
}

// loopVariable assigns all values of a loop to its variable.
func (s *shell) loopVariable(l syntax.Loop) {
	loop, ok := l.(*syntax.WordIter)
	if !ok {
		s.inside(l)
		return
	}
	var values []string
	for _, w := range loop.Items {
		values = append(values, s.word(w)...)
	}
	s.addToVariable(loop.Name.Value, values)
}

// addToVariable adds values to a variable. The variable also keeps the old values, because it is unknown which
// statements run.
func (s *shell) addToVariable(name string, values []string) {
	all := slices.Clone(s.vars[name])
	for _, v := range values {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	s.vars[name] = limitValues(all)
}

// binary judges two statements. In a pipe, the second statement reads the first's output. If this
// output is not the agent's own text, neither are the files that the second statement writes.
func (s *shell) binary(c *syntax.BinaryCmd) {
	s.stmt(c.X)
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		s.stmt(c.Y)
		return
	}
	level, wasPiped := s.j.level, s.isPiped
	s.isPiped = true
	writes := len(s.j.own)
	s.stmt(c.Y)
	if level != Own {
		s.j.other = append(s.j.other, s.j.own[writes:]...)
		s.j.own = s.j.own[:writes]
	}
	s.isPiped = wasPiped
}

// inside judges the commands in a node.
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

// assign processes assignments. PATH, LD_* and GIT_* variables make the command unvouched, because
// they change which programs run. After a GIT_* variable, the repository of git is not known any
// more.
func (s *shell) assign(assignments []*syntax.Assign) {
	for _, a := range assignments {
		values := []string{""}
		switch {
		case a.Naked:
			continue
		case a.Array != nil:
			s.inside(a.Array)
			values = manyValues
		case a.Value != nil:
			values = s.word(a.Value)
		}
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		isOfGit := strings.HasPrefix(name, "GIT_")
		choosesPrograms := name == "PATH" || strings.HasPrefix(name, "LD_")
		if isOfGit || choosesPrograms {
			s.j.raise(Unvouched, name+"=")
			s.isGitMoved = s.isGitMoved || isOfGit
		}
		s.addToVariable(a.Name.Value, values)
	}
}

func (s *shell) call(c *syntax.CallExpr) {
	s.assign(c.Assigns)
	var words []string
	for _, w := range c.Args {
		for _, split := range expandBraces(w) {
			words = append(words, s.word(split)...)
		}
	}
	s.simple(slices.Clip(words))
}
