// This file contains tables of programs that run other programs.

package origin

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// commandWrapper describes a program, such as sudo or xargs, whose arguments name another program to run.
type commandWrapper struct {
	optionsWithValue       string // options that are followed by a value
	commandLineOption      string // option that is followed by a command line
	workingDirOption       string // option that is followed by the directory in which the program runs
	operandsBeforeProgram  int    // number of arguments (besides options) before the name of the program to run
	hasCommandLineOperands bool   // The operands (arguments that are not options) form a command line to run.
	hasStdinArguments      bool   // The program reads more arguments from its standard input, as xargs does.
}

// commandWrappers contains the programs that run the program in their arguments.
var commandWrappers = map[string]commandWrapper{
	"sudo": {
		optionsWithValue: "-u -g -h -p -C -r -t -T -U -R --user --group --host --prompt --chroot",
		workingDirOption: "-D",
	},
	"doas":       {optionsWithValue: "-u -C"},
	"env":        {optionsWithValue: "-u --unset -a --argv0", commandLineOption: "-S", workingDirOption: "-C"},
	"time":       {optionsWithValue: "-f -o"},
	"nohup":      {},
	"nice":       {optionsWithValue: "-n"},
	"ionice":     {optionsWithValue: "-c -n -p"},
	"timeout":    {optionsWithValue: "-k -s --signal --kill-after", operandsBeforeProgram: 1},
	"gtimeout":   {optionsWithValue: "-k -s --signal --kill-after", operandsBeforeProgram: 1},
	"stdbuf":     {optionsWithValue: "-i -o -e"},
	"command":    {},
	"exec":       {optionsWithValue: "-a"},
	"builtin":    {},
	"setsid":     {},
	"unbuffer":   {},
	"caffeinate": {optionsWithValue: "-t -w"},
	"watch":      {optionsWithValue: "-n --interval", hasCommandLineOperands: true},
	"xargs": {
		optionsWithValue:  "-I -L -P -n -s -d -E -a --max-args --max-procs --delimiter --replace",
		hasStdinArguments: true,
	},
	"parallel": {optionsWithValue: "-j -I -n --jobs", hasStdinArguments: true},
	"strace":   {optionsWithValue: "-e -o -s -p -E -u"},
	"ltrace":   {optionsWithValue: "-e -o -s -p -u"},
	"script":   {optionsWithValue: "-o", commandLineOption: "-c"},
	"chroot":   {operandsBeforeProgram: 1},
	"unshare":  {optionsWithValue: "-S -G"},
	"taskset":  {operandsBeforeProgram: 1},
	"chrt":     {operandsBeforeProgram: 1},
	"flock":    {optionsWithValue: "-w -E", commandLineOption: "-c", operandsBeforeProgram: 1},
	"entr":     {},
	"retry":    {optionsWithValue: "-n -d"},
	"direnv":   {operandsBeforeProgram: 2},
	"mise":     {operandsBeforeProgram: 1},
	"busybox":  {},
}

// judgeWrappedProgramTrust judges the program that a wrapper runs.
func (s *shellState) judgeWrappedProgramTrust(w commandWrapper, args []string) {
	was := s.currentDir
	defer func() { s.currentDir = was }()
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || isAssignment(args[0])) {
		line, isLine := w.findCommandLine(args)
		if isLine {
			s.judgeShellLine(line)
			return
		}
		args = s.skipWrapperOption(w, args[0], args[1:])
	}
	args = args[min(w.operandsBeforeProgram, len(args)):]
	// In a command of GNU parallel, the names after :::: are files, from which parallel reads more arguments.
	if i := slices.Index(args, "::::"); w.hasStdinArguments && i >= 0 {
		s.recordPrintedFiles(args[i+1:], "::::")
	}
	switch {
	case w.hasCommandLineOperands:
		s.judgeShellLine(strings.Join(args, " "))
	case w.hasStdinArguments && len(args) > 0:
		s.judgeSimpleCommandTrust(append(slices.Clone(args), unknownWordValue))
	default:
		s.judgeSimpleCommandTrust(args)
	}
}

// findCommandLine returns the command line that follows the wrapper's commandLineOption in args. ok is false if the
// first argument is not this option, or if no argument follows the option. If the option is -S, the command line may
// also be joined to the option, as in -SCOMMAND.
func (w *commandWrapper) findCommandLine(args []string) (line string, ok bool) {
	if args[0] == w.commandLineOption && len(args) > 1 {
		return args[1], true
	}
	line = envCommandLine(args[0])
	// The command line may follow the option directly, as in env -SCOMMAND.
	if w.commandLineOption == "-S" &&
		line != "" {
		return line + " " + strings.Join(args[1:], " "), true
	}
	return "", false
}

// skipWrapperOption processes one option of a program that runs another program, such as sudo or xargs. If the option
// sets the working directory, skipWrapperOption changes the directory. If the option names a file with arguments, it
// records that the file is read. It returns the rest of args after the option. If the first element of args is the
// option's value, this element is removed, too.
func (s *shellState) skipWrapperOption(w commandWrapper, option string, args []string) []string {
	hasValue := len(args) > 0
	switch {
	case option == "--":
	case option == w.workingDirOption && hasValue:
		s.changeDir(args[:1])
		return args[1:]
	case strings.HasPrefix(option, "--chdir="):
		s.changeDir([]string{strings.TrimPrefix(option, "--chdir=")})
	case w.hasStdinArguments && option == "-a" && hasValue:
		s.recordPrintedFiles(args[:1], option)
		return args[1:]
	case w.hasStdinArguments && (strings.HasPrefix(option, "-a") || strings.HasPrefix(option, "--arg-file=")):
		s.recordPrintedFiles(findOptionValueFiles([]string{option}), option)
	case listHasWord(w.optionsWithValue, option) && hasValue:
		return args[1:]
	}
	return args
}

// envCommandLine returns the command line that an option of env contains, as in -SCOMMAND, or "".
func envCommandLine(option string) string {
	for _, front := range []string{"--split-string=", "-S"} {
		if line, ok := strings.CutPrefix(option, front); ok {
			return line
		}
	}
	return ""
}

// isAssignment reports whether a word assigns a variable for the program that follows, as in NAME=VALUE.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(
		name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
	) == ""
}

func listHasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// judgeShellCallTrust judges a call of a shell such as sh or bash with arguments. It determines who may have
// written the text that the call prints. If an argument contains a command line, as in sh -c, that command line is
// judged.
func (s *shellState) judgeShellCallTrust(p program) {
	for i, a := range p.args {
		isShort := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c")
		isCommand := isShort || strings.EqualFold(a, "-Command") || strings.EqualFold(a, "/c")
		hasCommand := isCommand && i+1 < len(p.args)
		if hasCommand && p.args[i+1] != unknownWordValue {
			inner := *s
			inner.assignedVariables = maps.Clone(s.assignedVariables)
			inner.judgeShellLine(p.args[i+1])
			return
		}
	}
	// The shell runs a script file or reads commands from its standard input. These commands are not known, so nobody
	// vouches for the output.
	s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
}

// packageManager describes a package manager or a build tool. The subcommand determines where the printed text comes
// from. A subcommand is one word or two words, such as mod/tidy.
type packageManager struct {
	projectOutputSubcommands string // subcommands of the package manager that print the project's text
	runSubcommands           string // subcommands that run the program named by the following arguments
	anyProgramSubcommands    string // subcommands that run a program of unknown origin, from the project or a package
	// A subcommand that is in none of the three lists above runs a program from a package.
	runsPackagePrograms bool
}

// packageManagers contains the package managers and build tools. A subcommand that is not listed prints text from
// packages or other machines.
var packageManagers = map[string]packageManager{
	"npm": {
		projectOutputSubcommands: "test t run run-script start build pack version init prefix root bin config set pkg lint",
	},
	"pnpm": {projectOutputSubcommands: "test t run start build lint typecheck check pack init"},
	"yarn": {projectOutputSubcommands: "test run start build lint typecheck check pack init workspaces workspace"},
	"bun":  {projectOutputSubcommands: "test run build init"},
	"deno": {projectOutputSubcommands: "test check lint fmt task compile", anyProgramSubcommands: "run eval"},
	"npx": {
		projectOutputSubcommands: "tsc eslint jest vitest prettier mocha playwright biome ava tap webpack rollup vite esbuild",
		runsPackagePrograms:      true,
	},
	"bunx": {projectOutputSubcommands: "tsc eslint jest vitest prettier biome", runsPackagePrograms: true},
	"pnpx": {projectOutputSubcommands: "tsc eslint jest vitest", runsPackagePrograms: true},
	"go": {
		projectOutputSubcommands: "build test vet fmt fix env version list clean work telemetry help bug mod/tidy mod/init mod/verify " +
			"mod/graph mod/why mod/edit mod/vendor",
		anyProgramSubcommands: "run generate tool",
	},
	"cargo": {
		projectOutputSubcommands: "build b test t check c clippy fmt bench clean new init nextest version locate-project fix",
		anyProgramSubcommands:    "run r",
	},
	"pip":       {projectOutputSubcommands: "check cache"},
	"pip3":      {projectOutputSubcommands: "check cache"},
	"uv":        {projectOutputSubcommands: "lock venv version build", runSubcommands: "run"},
	"poetry":    {projectOutputSubcommands: "build check lock version", runSubcommands: "run"},
	"pipenv":    {runSubcommands: "run"},
	"conda":     {projectOutputSubcommands: "activate deactivate env", runSubcommands: "run"},
	"gem":       {projectOutputSubcommands: "build"},
	"bundle":    {projectOutputSubcommands: "check", runSubcommands: "exec"},
	"rake":      {projectOutputSubcommands: "test spec build lint"},
	"composer":  {projectOutputSubcommands: "validate dump-autoload test"},
	"dotnet":    {projectOutputSubcommands: "build test clean format new sln", anyProgramSubcommands: "run"},
	"swift":     {projectOutputSubcommands: "build test format", anyProgramSubcommands: "run"},
	"zig":       {projectOutputSubcommands: "build test fmt version", anyProgramSubcommands: "run"},
	"flutter":   {projectOutputSubcommands: "test analyze build format"},
	"dart":      {projectOutputSubcommands: "test analyze format compile", anyProgramSubcommands: "run"},
	"terraform": {projectOutputSubcommands: "fmt validate"},
	"gh": {
		projectOutputSubcommands: "pr/create issue/create release/create pr/merge pr/close issue/close pr/checkout config",
		runsPackagePrograms:      true,
	},
	"glab":   {projectOutputSubcommands: "mr/create issue/create", runsPackagePrograms: true},
	"hub":    {projectOutputSubcommands: "create pull-request", runsPackagePrograms: true},
	"docker": {projectOutputSubcommands: "build compose/build tag rm rmi stop kill", runsPackagePrograms: true},
	"mix":    {projectOutputSubcommands: "test compile format"},
}

// judgePackageManagerTrust judges the output of a package manager or a build tool that ran with p.args. If the output
// may contain text by others or by unknown programs, judgePackageManagerTrust raises the trust level in the verdict. A
// higher level means less trust.
func (s *shellState) judgePackageManagerTrust(m packageManager, p program) {
	i := slices.IndexFunc(p.args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 { // Without a subcommand, the program prints its help or version.
		mayRun := m.runsPackagePrograms && len(p.args) > 0
		if mayRun && !slices.Contains(p.args, "--version") {
			s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
		}
		return
	}
	word, rest := p.args[i], p.args[i+1:]
	two := word
	if len(rest) > 0 {
		two += "/" + rest[0]
	}
	switch {
	case listHasWord(m.projectOutputSubcommands, word) && !s.printsOnlyProjectText(p.name, word, rest):
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
	case listHasWord(m.projectOutputSubcommands, word), listHasWord(m.projectOutputSubcommands, two):
		s.judgeBuildProgramTrust(p)
	case listHasWord(m.runSubcommands, word):
		s.judgeWrappedProgramTrust(commandWrapper{optionsWithValue: "--with --python --extra --group -p"}, rest)
	case listHasWord(m.anyProgramSubcommands, word):
		s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
	case p.name == "go" && word == "doc" && isProjectOrStandardPackage(rest):
	default:
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
	}
}

// judgeBuildProgramTrust judges a program that builds or tests a project. The program prints the project's own text if
// it runs in the project, and if none of its arguments names a file, directory or address outside the project.
// Otherwise the trust level of the output is raised to TrustLevelForeignText. If the value of an argument is unknown,
// the level is raised at least to TrustLevelUnvouchedText.
//
// An option such as -exec can name another program to run. If the build program prints only the project's own text,
// this other program is judged as well.
func (s *shellState) judgeBuildProgramTrust(p program) {
	isOwn := s.isInProjectDir()
	for _, a := range p.inputFiles() {
		if a == unknownWordValue {
			s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
			continue
		}
		isOwn = isOwn && s.namesOnlyProjectData(a)
	}
	if !isOwn {
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
		return
	}
	for i, a := range p.args { // An option may name a program to run, as in go test -exec PROGRAM.
		name, value, hasValue := strings.Cut(a, "=")
		if !slices.Contains([]string{"-exec", "-toolexec", "-vettool"}, name) {
			continue
		}
		if !hasValue && i+1 < len(p.args) {
			value = p.args[i+1]
		}
		s.judgeShellLine(value)
	}
}

// printsOnlyProjectText reports whether a package manager's subcommand prints only text of the project if it is called
// with these arguments.
func (s *shellState) printsOnlyProjectText(manager, subcommand string, args []string) bool {
	switch {
	case manager == "go" && slices.Contains([]string{"build", "test", "vet", "list"}, subcommand):
		listsOthers := subcommand == "list" && slices.ContainsFunc(args, func(a string) bool {
			return a == "-deps" || a == "-m" || a == "-u"
		})
		return !listsOthers && s.areProjectOrStandardPackages(findOperands(args))
	// If npm init is called with a name, it runs a package of this name, which prints foreign text.
	case subcommand == "init" && manager != "cargo":
		return len(findOperands(args)) == 0
	}
	return true
}

// isProjectOrStandardPackage reports whether the command "go doc" with these arguments describes a package in the
// project or in the standard library. It returns false only if the package's path has several elements and the first
// element contains a dot, as in example.com/p. Without a package, and for a path that begins with ./, it returns true.
func isProjectOrStandardPackage(args []string) bool {
	names := findOperands(args)
	if len(names) == 0 || strings.HasPrefix(names[0], "./") {
		return true
	}
	host, _, hasPath := strings.Cut(names[0], "/")
	return !hasPath || !strings.Contains(host, ".")
}

// interpreter describes a program that runs scripts, such as python.
type interpreter struct {
	projectOutputModules  string // modules of the language, run with -m, that print only text of the project
	externalOutputModules string // modules of the language, run with -m, that print text from outside of the project
	runCodeOptions        string // options of the interpreter that are followed by code to run, such as -c
	projectOutputOptions  string // options of the interpreter that make it print only text of the project
}

// interpreters contains the interpreters by name. The names lack version numbers.
var interpreters = map[string]interpreter{
	"python": {
		projectOutputModules:  "pytest unittest py_compile compileall mypy ruff black flake8 doctest json.tool venv tox",
		externalOutputModules: "pip pydoc",
		runCodeOptions:        "-c",
		projectOutputOptions:  "--version -V",
	},
	"node": {runCodeOptions: "-e -p --eval --print", projectOutputOptions: "--test --version -v --check"},
	"ruby": {runCodeOptions: "-e -ne -pe", projectOutputOptions: "--version -c"},
	"perl": {runCodeOptions: "-e -E -ne -pe", projectOutputOptions: "--version -v"},
	"php":  {runCodeOptions: "-r", projectOutputOptions: "--version -l"},
	"lua": {
		runCodeOptions: "-e",
	}, "tsx": {runCodeOptions: "-e"}, "ts-node": {runCodeOptions: "-e"}, "rscript": {runCodeOptions: "-e"},
	"julia": {runCodeOptions: "-e"},
}

func findInterpreter(name string) (interpreter, bool) {
	i, ok := interpreters[strings.TrimRight(name, "0123456789.")]
	return i, ok
}

// judgeInterpreterTrust determines whose text an interpreter, such as python, has printed, and adapts s.verdict to the
// result. The interpreter may have run a script, a module or code from the command line.
func (s *shellState) judgeInterpreterTrust(i interpreter, p program) {
	level := i.outputTrustLevel(p.args)
	s.verdict.raiseTrustLevel(level, p.fullCommandText)
	if level != TrustLevelOwnText {
		return
	}
	s.judgeBuildProgramTrust(p)
	if slices.Contains(p.args, "json.tool") {
		s.recordPrintedFiles(s.operandFiles(p.name, findOperands(p.args)), p.fullCommandText)
	}
}

// outputTrustLevel returns the trust level of the text that an interpreter, such as python, prints when it is called
// with these arguments.
func (i *interpreter) outputTrustLevel(args []string) TrustLevel {
	for n, a := range args {
		rest := args[n+1:]
		switch {
		case a == "-m" && i.projectOutputModules != "" && len(rest) > 0 && listHasWord(i.projectOutputModules, rest[0]),
			listHasWord(i.projectOutputOptions, a):
			return TrustLevelOwnText
		case a == "-m" && len(rest) > 0 && listHasWord(i.externalOutputModules, rest[0]):
			return TrustLevelForeignText
		case listHasWord(i.runCodeOptions, a):
			code := strings.Join(rest, " ")
			if strings.Contains(code, unknownWordValue) || externalAccessPattern().MatchString(code) {
				return TrustLevelForeignText
			}
			return TrustLevelUnvouchedText
		case !strings.HasPrefix(a, "-"):
			return TrustLevelUnvouchedText // The argument is a script, whose output is unknown.
		}
	}
	return TrustLevelUnvouchedText
}

// externalAccessPattern matches code on the command line that may read from other machines, programs or files. The
// output of other code has TrustLevelUnvouchedText, because the pattern cannot find every such access.
var externalAccessPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)://|urllib|urlopen|requests?\b|httpx?\b|socket|fetch\(|axios|aiohttp|ftplib|smtplib|imaplib|paramiko|boto|LWP|Net::|open-uri|` +
			`subprocess|popen|os\.system|child_process|exec\(|spawn|psycopg|sqlite3|pymysql|redis|mongo|open\(|readFile|read_text|Path\(|File\.read|file_get_contents`,
	)
})
