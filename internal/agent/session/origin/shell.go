// This file judges a shell command line statement by statement.

package origin

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A command line may contain another command line, as in sh -c. maxCommandLineNesting is the maximum depth.
const maxCommandLineNesting = 8

// judgeCommandLine determines who may have written the text that a shell command line printed, and records the result
// in j. The argument line is the command line. commandOutput is the text that it printed.
func (j *toolCallVerdictState) judgeCommandLine(line, commandOutput string) {
	s := shellState{
		verdict:           j,
		currentDir:        j.tree.workingDir,
		assignedVariables: map[string][]string{},
		commandOutput:     commandOutput,
	}
	s.judgeShellLine(line)
}

// judgeShellLine determines who may have written the text that a command line prints, and records the files that the
// command line writes. If the line is not valid in a Unix shell, for example because it is for PowerShell, its output
// has at least TrustLevelUnvouchedText. Such a line is split at the characters that separate commands in most shells.
// If command lines are nested too deeply, the output has TrustLevelForeignText.
func (s *shellState) judgeShellLine(line string) {
	s.nestingDepth++
	defer func() { s.nestingDepth-- }()
	if s.nestingDepth > maxCommandLineNesting {
		s.verdict.raiseTrustLevel(TrustLevelForeignText, line)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err == nil {
		s.judgeStatementsTrust(file.Stmts)
		return
	}
	s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, line)
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;&\n(){}`", r) }) {
		words := strings.Fields(part)
		for i, w := range words {
			words[i] = strings.Trim(w, `"'<`)
		}
		s.judgeSimpleCommandTrust(words)
	}
}

func (s *shellState) judgeStatementsTrust(list []*syntax.Stmt) {
	for _, st := range list {
		s.judgeStatementTrust(st)
	}
}

// judgeSubshellTrust judges a subshell's statements, which cannot change the directory or the variables of the
// statements after the subshell.
func (s *shellState) judgeSubshellTrust(list []*syntax.Stmt) {
	inner := *s
	inner.assignedVariables = maps.Clone(s.assignedVariables)
	inner.judgeStatementsTrust(list)
}

// judgeStatementTrust determines who may have written the text that a shell statement prints, and records the files
// that the statement writes. A written file counts as the agent's own only if the statement reads nothing but the
// agent's own text.
func (s *shellState) judgeStatementTrust(st *syntax.Stmt) {
	oldLevel, oldWhat := s.verdict.highestTrustLevel, s.verdict.trustLevelCause
	s.verdict.highestTrustLevel = TrustLevelOwnText
	if st.Cmd != nil {
		s.judgeShellCommandTrust(st.Cmd)
	}
	for _, r := range st.Redirs {
		s.recordRedirectedFile(r)
	}
	if s.verdict.highestTrustLevel <= oldLevel {
		s.verdict.highestTrustLevel, s.verdict.trustLevelCause = oldLevel, oldWhat
	}
}

// recordRedirectedFile judges a redirection of a shell command. If the command reads its input from a file, the file
// counts as printed, and its author determines the trust level of the output. If the output goes to a file, the file is
// recorded as written.
func (s *shellState) recordRedirectedFile(r *syntax.Redirect) {
	if r.Hdoc != nil {
		s.wordValues(r.Hdoc)
	}
	if r.Word == nil {
		return
	}
	values := s.wordValues(r.Word)
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		s.recordPrintedFiles(values, "< "+strings.Join(values, " "))
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
		s.recordWrittenFiles(values, s.verdict.highestTrustLevel == TrustLevelOwnText)
	}
}

// judgeShellCommandTrust judges a shell command of any kind, such as a call of a program, a pipe or a loop.
func (s *shellState) judgeShellCommandTrust(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		s.judgeCallExpr(c)
	case *syntax.BinaryCmd:
		s.judgeJoinedCommandsTrust(c)
	case *syntax.Subshell:
		s.judgeSubshellTrust(c.Stmts)
	case *syntax.Block:
		s.judgeStatementsTrust(c.Stmts)
	case *syntax.FuncDecl:
		s.judgeStatementTrust(c.Body)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.judgeStatementTrust(c.Stmt)
		}
	case *syntax.CoprocClause:
		s.judgeStatementTrust(c.Stmt)
	case *syntax.DeclClause:
		s.applyAssignments(c.Args)
	default:
		s.judgeCompoundCommandTrust(c)
	}
}

// judgeCompoundCommandTrust judges the statements in a loop, a condition or another compound statement. It records in
// the verdict how trusted the text is that these statements may print.
func (s *shellState) judgeCompoundCommandTrust(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.IfClause:
		for c := c; c != nil; c = c.Else {
			s.judgeStatementsTrust(c.Cond)
			s.judgeStatementsTrust(c.Then)
		}
	case *syntax.WhileClause:
		// Examine a loop's statements twice, because the second round may use values that the first round assigned.
		for range 2 {
			s.judgeStatementsTrust(c.Cond)
			s.judgeStatementsTrust(c.Do)
		}
	case *syntax.ForClause:
		s.assignLoopVariable(c.Loop)
		for range 2 {
			s.judgeStatementsTrust(c.Do)
		}
	case *syntax.CaseClause:
		s.wordValues(c.Word)
		for _, item := range c.Items {
			s.judgeStatementsTrust(item.Stmts)
		}
	default: // This compound statement is a test or an arithmetic expression, which may contain commands.
		s.judgeNestedCommandsTrust(c)
	}
}

// assignLoopVariable assigns all values in the head of a shell loop, such as "for x in a b", to the loop's variable. A
// loop in the style of C has no list of values. For such a loop, assignLoopVariable only judges the commands in the
// loop's head.
func (s *shellState) assignLoopVariable(l syntax.Loop) {
	loop, ok := l.(*syntax.WordIter)
	if !ok {
		s.judgeNestedCommandsTrust(l)
		return
	}
	var values []string
	for _, w := range loop.Items {
		values = append(values, s.wordValues(w)...)
	}
	s.addVariableValues(loop.Name.Value, values)
}

// addVariableValues adds possible values to a variable. The earlier values stay possible, because it is unknown which
// statements run.
func (s *shellState) addVariableValues(name string, values []string) {
	all := slices.Clone(s.assignedVariables[name])
	for _, v := range values {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	s.assignedVariables[name] = limitWordValues(all)
}

// judgeJoinedCommandsTrust judges two statements that an operator such as | or && joins. In a pipe, the second
// statement reads the output of the first. If this output is not the agent's own text, the files that the second
// statement writes are foreign as well.
func (s *shellState) judgeJoinedCommandsTrust(c *syntax.BinaryCmd) {
	s.judgeStatementTrust(c.X)
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		s.judgeStatementTrust(c.Y)
		return
	}
	level, wasPiped := s.verdict.highestTrustLevel, s.isPiped
	s.isPiped = true
	writes := len(s.verdict.filesWithAgentText)
	s.judgeStatementTrust(c.Y)
	if level != TrustLevelOwnText {
		s.verdict.filesWithNonAgentText = append(
			s.verdict.filesWithNonAgentText,
			s.verdict.filesWithAgentText[writes:]...)
		s.verdict.filesWithAgentText = s.verdict.filesWithAgentText[:writes]
	}
	s.isPiped = wasPiped
}

// judgeNestedCommandsTrust judges the commands inside a part of a shell line, for example in a word with a command
// substitution. It determines who may have written the text that these commands print.
func (s *shellState) judgeNestedCommandsTrust(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.judgeSubshellTrust(n.Stmts)
			return false
		case *syntax.ProcSubst:
			s.judgeSubshellTrust(n.Stmts)
			return false
		}
		return true
	})
}

// applyAssignments processes assignments of shell variables. PATH, LD_* and GIT_* variables change which programs the
// shell command runs. If the command assigns such a variable, its output is at most as trusted as text that nobody
// vouches for (TrustLevelUnvouchedText). After an assignment of a GIT_* variable, it is also unknown which repository
// git uses.
func (s *shellState) applyAssignments(assignments []*syntax.Assign) {
	for _, a := range assignments {
		values := []string{""}
		switch {
		case a.Naked:
			continue
		case a.Array != nil:
			s.judgeNestedCommandsTrust(a.Array)
			values = valuesOfUnknownWord
		case a.Value != nil:
			values = s.wordValues(a.Value)
		}
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		isOfGit := strings.HasPrefix(name, "GIT_")
		choosesPrograms := name == "PATH" || strings.HasPrefix(name, "LD_")
		if isOfGit || choosesPrograms {
			s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, name+"=")
			s.mayUseOtherRepo = s.mayUseOtherRepo || isOfGit
		}
		s.addVariableValues(a.Name.Value, values)
	}
}

// judgeCallExpr judges a call of a program. It expands the words of the call and processes the assignments before them.
// If a word has several possible values, all of them become words of the call.
func (s *shellState) judgeCallExpr(c *syntax.CallExpr) {
	s.applyAssignments(c.Assigns)
	var words []string
	for _, w := range c.Args {
		for _, split := range expandBraces(w) {
			words = append(words, s.wordValues(split)...)
		}
	}
	s.judgeSimpleCommandTrust(slices.Clip(words))
}
