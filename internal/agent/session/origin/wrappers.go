// This file is the table of programs that run other programs.

package origin

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// wrapper describes how a program names the program that it runs.
type wrapper struct {
	valueOptions      string // options that have a value
	lineOption        string // option whose value is a command line
	dirOption         string // option whose value is the directory to run in
	skippedOperands   int    // number of operands before the program
	hasLineOperands   bool   // whether the operands are a command line
	hasStdinArguments bool   // whether more arguments come from the standard input
}

// wrappers are the programs that run the program named by their arguments.
var wrappers = map[string]wrapper{
	"sudo": {
		valueOptions: "-u -g -h -p -C -r -t -T -U -R --user --group --host --prompt --chroot",
		dirOption:    "-D",
	},
	"doas":       {valueOptions: "-u -C"},
	"env":        {valueOptions: "-u --unset -a --argv0", lineOption: "-S", dirOption: "-C"},
	"time":       {valueOptions: "-f -o"},
	"nohup":      {},
	"nice":       {valueOptions: "-n"},
	"ionice":     {valueOptions: "-c -n -p"},
	"timeout":    {valueOptions: "-k -s --signal --kill-after", skippedOperands: 1},
	"gtimeout":   {valueOptions: "-k -s --signal --kill-after", skippedOperands: 1},
	"stdbuf":     {valueOptions: "-i -o -e"},
	"command":    {},
	"exec":       {valueOptions: "-a"},
	"builtin":    {},
	"setsid":     {},
	"unbuffer":   {},
	"caffeinate": {valueOptions: "-t -w"},
	"watch":      {valueOptions: "-n --interval", hasLineOperands: true},
	"xargs": {
		valueOptions:      "-I -L -P -n -s -d -E -a --max-args --max-procs --delimiter --replace",
		hasStdinArguments: true,
	},
	"parallel": {valueOptions: "-j -I -n --jobs", hasStdinArguments: true},
	"strace":   {valueOptions: "-e -o -s -p -E -u"},
	"ltrace":   {valueOptions: "-e -o -s -p -u"},
	"script":   {valueOptions: "-o", lineOption: "-c"},
	"chroot":   {skippedOperands: 1},
	"unshare":  {valueOptions: "-S -G"},
	"taskset":  {skippedOperands: 1},
	"chrt":     {skippedOperands: 1},
	"flock":    {valueOptions: "-w -E", lineOption: "-c", skippedOperands: 1},
	"entr":     {},
	"retry":    {valueOptions: "-n -d"},
	"direnv":   {skippedOperands: 2},
	"mise":     {skippedOperands: 1},
	"busybox":  {},
}

// judgeWrapped judges the program that a wrapper runs.
func (s *shellState) judgeWrapped(w wrapper, args []string) {
	was := s.dir
	defer func() { s.dir = was }()
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || isAssignment(args[0])) {
		line, isLine := w.commandLineIn(args)
		if isLine {
			s.judgeLine(line)
			return
		}
		args = s.skipWrapperOption(w, args[0], args[1:])
	}
	args = args[min(w.skippedOperands, len(args)):]
	if i := slices.Index(args, "::::"); w.hasStdinArguments && i >= 0 { // parallel reads arguments from files
		s.judgeReadFiles(args[i+1:], "::::")
	}
	switch {
	case w.hasLineOperands:
		s.judgeLine(strings.Join(args, " "))
	case w.hasStdinArguments && len(args) > 0:
		s.judgeSimpleCommand(append(slices.Clone(args), unknownWord))
	default:
		s.judgeSimpleCommand(args)
	}
}

// commandLineIn returns the command line that the first argument of a wrapper introduces, if any.
func (w *wrapper) commandLineIn(args []string) (line string, ok bool) {
	if args[0] == w.lineOption && len(args) > 1 {
		return args[1], true
	}
	line = envCommandLine(args[0])
	if w.lineOption == "-S" && line != "" { // env -SCOMMAND
		return line + " " + strings.Join(args[1:], " "), true
	}
	return "", false
}

// skipWrapperOption processes an option of a wrapper. It returns the arguments after the option and the
// option's value.
func (s *shellState) skipWrapperOption(w wrapper, option string, args []string) []string {
	hasValue := len(args) > 0
	switch {
	case option == "--":
	case option == w.dirOption && hasValue:
		s.changeDir(args[:1])
		return args[1:]
	case strings.HasPrefix(option, "--chdir="):
		s.changeDir([]string{strings.TrimPrefix(option, "--chdir=")})
	case w.hasStdinArguments && option == "-a" && hasValue:
		s.judgeReadFiles(args[:1], option)
		return args[1:]
	case w.hasStdinArguments && (strings.HasPrefix(option, "-a") || strings.HasPrefix(option, "--arg-file=")):
		s.judgeReadFiles(optionFiles([]string{option}), option)
	case hasWord(w.valueOptions, option) && hasValue:
		return args[1:]
	}
	return args
}

// envCommandLine returns the command line in an option of env, as in -SCOMMAND, or "".
func envCommandLine(option string) string {
	for _, front := range []string{"--split-string=", "-S"} {
		if line, ok := strings.CutPrefix(option, front); ok {
			return line
		}
	}
	return ""
}

// isAssignment reports whether a word sets a variable for the program that follows it.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(
		name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
	) == ""
}

func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// judgeShellProgram judges a shell that is run with arguments.
func (s *shellState) judgeShellProgram(p program) {
	for i, a := range p.args {
		isShort := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c")
		isCommand := isShort || strings.EqualFold(a, "-Command") || strings.EqualFold(a, "/c")
		hasCommand := isCommand && i+1 < len(p.args)
		if hasCommand && p.args[i+1] != unknownWord {
			inner := *s
			inner.vars = maps.Clone(s.vars)
			inner.judgeLine(p.args[i+1])
			return
		}
	}
	s.verdict.raiseLevel(LevelUnvouched, p.text) // the program runs a script or its standard input
}

// packageManager describes a package manager or a build tool. Its subcommand determines the output's
// origin. The subcommand is a word or two words, such as mod/tidy.
type packageManager struct {
	ownSubcommands     string // subcommands that print texts of the project
	runSubcommands     string // subcommands that run the program in the next arguments
	unknownSubcommands string // subcommands that run a program from the project or a package
	isRunner           bool   // whether other subcommands are programs of packages
}

// packageManagers are package managers and build tools. Subcommands that are not listed print texts
// from packages or other machines.
var packageManagers = map[string]packageManager{
	"npm": {
		ownSubcommands: "test t run run-script start build pack version init prefix root bin config set pkg lint",
	},
	"pnpm": {ownSubcommands: "test t run start build lint typecheck check pack init"},
	"yarn": {ownSubcommands: "test run start build lint typecheck check pack init workspaces workspace"},
	"bun":  {ownSubcommands: "test run build init"},
	"deno": {ownSubcommands: "test check lint fmt task compile", unknownSubcommands: "run eval"},
	"npx": {
		ownSubcommands: "tsc eslint jest vitest prettier mocha playwright biome ava tap webpack rollup vite esbuild",
		isRunner:       true,
	},
	"bunx": {ownSubcommands: "tsc eslint jest vitest prettier biome", isRunner: true},
	"pnpx": {ownSubcommands: "tsc eslint jest vitest", isRunner: true},
	"go": {
		ownSubcommands: "build test vet fmt fix env version list clean work telemetry help bug mod/tidy mod/init mod/verify " +
			"mod/graph mod/why mod/edit mod/vendor",
		unknownSubcommands: "run generate tool",
	},
	"cargo": {
		ownSubcommands:     "build b test t check c clippy fmt bench clean new init nextest version locate-project fix",
		unknownSubcommands: "run r",
	},
	"pip":       {ownSubcommands: "check cache"},
	"pip3":      {ownSubcommands: "check cache"},
	"uv":        {ownSubcommands: "lock venv version build", runSubcommands: "run"},
	"poetry":    {ownSubcommands: "build check lock version", runSubcommands: "run"},
	"pipenv":    {runSubcommands: "run"},
	"conda":     {ownSubcommands: "activate deactivate env", runSubcommands: "run"},
	"gem":       {ownSubcommands: "build"},
	"bundle":    {ownSubcommands: "check", runSubcommands: "exec"},
	"rake":      {ownSubcommands: "test spec build lint"},
	"composer":  {ownSubcommands: "validate dump-autoload test"},
	"dotnet":    {ownSubcommands: "build test clean format new sln", unknownSubcommands: "run"},
	"swift":     {ownSubcommands: "build test format", unknownSubcommands: "run"},
	"zig":       {ownSubcommands: "build test fmt version", unknownSubcommands: "run"},
	"flutter":   {ownSubcommands: "test analyze build format"},
	"dart":      {ownSubcommands: "test analyze format compile", unknownSubcommands: "run"},
	"terraform": {ownSubcommands: "fmt validate"},
	"gh": {
		ownSubcommands: "pr/create issue/create release/create pr/merge pr/close issue/close pr/checkout config",
		isRunner:       true,
	},
	"glab":   {ownSubcommands: "mr/create issue/create", isRunner: true},
	"hub":    {ownSubcommands: "create pull-request", isRunner: true},
	"docker": {ownSubcommands: "build compose/build tag rm rmi stop kill", isRunner: true},
	"mix":    {ownSubcommands: "test compile format"},
}

// judgeManager judges a package manager or a build tool.
func (s *shellState) judgeManager(m packageManager, p program) {
	i := slices.IndexFunc(p.args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 { // the command prints its help or version
		mayRun := m.isRunner && len(p.args) > 0
		if mayRun && !slices.Contains(p.args, "--version") {
			s.verdict.raiseLevel(LevelForeign, p.text)
		}
		return
	}
	word, rest := p.args[i], p.args[i+1:]
	two := word
	if len(rest) > 0 {
		two += "/" + rest[0]
	}
	switch {
	case hasWord(m.ownSubcommands, word) && !s.isOwnCommand(p.name, word, rest):
		s.verdict.raiseLevel(LevelForeign, p.text)
	case hasWord(m.ownSubcommands, word), hasWord(m.ownSubcommands, two):
		s.judgeBuild(p)
	case hasWord(m.runSubcommands, word):
		s.judgeWrapped(wrapper{valueOptions: "--with --python --extra --group -p"}, rest)
	case hasWord(m.unknownSubcommands, word):
		s.verdict.raiseLevel(LevelUnvouched, p.text)
	case p.name == "go" && word == "doc" && isStandardPackage(rest):
	default:
		s.verdict.raiseLevel(LevelForeign, p.text)
	}
}

// judgeBuild judges a program that builds or tests a project. The output is the project's own text if the program runs
// in the project, and the arguments name no foreign file, no other directory and no address.
func (s *shellState) judgeBuild(p program) {
	isOwn := s.isInProjectDir()
	for _, a := range p.inputFiles() {
		if a == unknownWord {
			s.verdict.raiseLevel(LevelUnvouched, p.text)
			continue
		}
		isOwn = isOwn && s.isOwnInput(a)
	}
	if !isOwn {
		s.verdict.raiseLevel(LevelForeign, p.text)
		return
	}
	for i, a := range p.args { // such as go test -exec PROGRAM
		name, value, hasValue := strings.Cut(a, "=")
		if !slices.Contains([]string{"-exec", "-toolexec", "-vettool"}, name) {
			continue
		}
		if !hasValue && i+1 < len(p.args) {
			value = p.args[i+1]
		}
		s.judgeLine(value)
	}
}

// isOwnCommand reports whether a listed subcommand of a package manager prints only the project's
// texts with these arguments.
func (s *shellState) isOwnCommand(manager, subcommand string, args []string) bool {
	switch {
	case manager == "go" && slices.Contains([]string{"build", "test", "vet", "list"}, subcommand):
		listsOthers := subcommand == "list" && slices.ContainsFunc(args, func(a string) bool {
			return a == "-deps" || a == "-m" || a == "-u"
		})
		return !listsOthers && s.areOwnPackages(findOperands(args))
	case subcommand == "init" && manager != "cargo": // npm init NAME runs a package
		return len(findOperands(args)) == 0
	}
	return true
}

// isStandardPackage reports whether go doc's argument is a package in the project or the
// standard library. A path whose first element contains a dot is neither.
func isStandardPackage(args []string) bool {
	names := findOperands(args)
	if len(names) == 0 || strings.HasPrefix(names[0], "./") {
		return true
	}
	host, _, hasPath := strings.Cut(names[0], "/")
	return !hasPath || !strings.Contains(host, ".")
}

// interpreter describes a program that runs a script.
type interpreter struct {
	ownModules     string // modules whose output is the project's own
	foreignModules string // modules that print texts by others
	codeOptions    string // options that are followed by code
	ownOptions     string // options with which the output is the project's own
}

// interpreters contains the interpreters by name, without version numbers.
var interpreters = map[string]interpreter{
	"python": {
		ownModules:     "pytest unittest py_compile compileall mypy ruff black flake8 doctest json.tool venv tox",
		foreignModules: "pip pydoc",
		codeOptions:    "-c",
		ownOptions:     "--version -V",
	},
	"node": {codeOptions: "-e -p --eval --print", ownOptions: "--test --version -v --check"},
	"ruby": {codeOptions: "-e -ne -pe", ownOptions: "--version -c"},
	"perl": {codeOptions: "-e -E -ne -pe", ownOptions: "--version -v"},
	"php":  {codeOptions: "-r", ownOptions: "--version -l"},
	"lua": {
		codeOptions: "-e",
	}, "tsx": {codeOptions: "-e"}, "ts-node": {codeOptions: "-e"}, "rscript": {codeOptions: "-e"},
	"julia": {codeOptions: "-e"},
}

func findInterpreter(name string) (interpreter, bool) {
	i, ok := interpreters[strings.TrimRight(name, "0123456789.")]
	return i, ok
}

// judgeInterpreter judges a program that runs a script or a module.
func (s *shellState) judgeInterpreter(i interpreter, p program) {
	level := i.outputLevel(p.args)
	s.verdict.raiseLevel(level, p.text)
	if level != LevelOwn {
		return
	}
	s.judgeBuild(p)
	if slices.Contains(p.args, "json.tool") {
		s.judgeReadFiles(s.namedFiles(p.name, findOperands(p.args)), p.text)
	}
}

// outputLevel returns the level of an interpreter's output with these arguments.
func (i *interpreter) outputLevel(args []string) Level {
	for n, a := range args {
		rest := args[n+1:]
		switch {
		case a == "-m" && i.ownModules != "" && len(rest) > 0 && hasWord(i.ownModules, rest[0]),
			hasWord(i.ownOptions, a):
			return LevelOwn
		case a == "-m" && len(rest) > 0 && hasWord(i.foreignModules, rest[0]):
			return LevelForeign
		case hasWord(i.codeOptions, a):
			code := strings.Join(rest, " ")
			if strings.Contains(code, unknownWord) || foreignAccessPattern().MatchString(code) {
				return LevelForeign
			}
			return LevelUnvouched
		case !strings.HasPrefix(a, "-"):
			return LevelUnvouched // the script
		}
	}
	return LevelUnvouched
}

// foreignAccessPattern matches code on a command line that may read from other machines, programs or files. Code
// that it does not match is still only LevelUnvouched.
var foreignAccessPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)://|urllib|urlopen|requests?\b|httpx?\b|socket|fetch\(|axios|aiohttp|ftplib|smtplib|imaplib|paramiko|boto|LWP|Net::|open-uri|` +
			`subprocess|popen|os\.system|child_process|exec\(|spawn|psycopg|sqlite3|pymysql|redis|mongo|open\(|readFile|read_text|Path\(|File\.read|file_get_contents`,
	)
})
