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
	values string // options that have a value
	line   string // option whose value is a command line
	dir    string // option whose value is the directory to run in
	skip   int    // number of operands before the program
	isLine bool   // whether the operands are a command line
	isFed  bool   // whether more arguments come from the standard input
}

// wrappers are the programs that run the program named by their arguments.
var wrappers = map[string]wrapper{
	"sudo":       {values: "-u -g -h -p -C -r -t -T -U -R --user --group --host --prompt --chroot", dir: "-D"},
	"doas":       {values: "-u -C"},
	"env":        {values: "-u --unset -a --argv0", line: "-S", dir: "-C"},
	"time":       {values: "-f -o"},
	"nohup":      {},
	"nice":       {values: "-n"},
	"ionice":     {values: "-c -n -p"},
	"timeout":    {values: "-k -s --signal --kill-after", skip: 1},
	"gtimeout":   {values: "-k -s --signal --kill-after", skip: 1},
	"stdbuf":     {values: "-i -o -e"},
	"command":    {},
	"exec":       {values: "-a"},
	"builtin":    {},
	"setsid":     {},
	"unbuffer":   {},
	"caffeinate": {values: "-t -w"},
	"watch":      {values: "-n --interval", isLine: true},
	"xargs":      {values: "-I -L -P -n -s -d -E -a --max-args --max-procs --delimiter --replace", isFed: true},
	"parallel":   {values: "-j -I -n --jobs", isFed: true},
	"strace":     {values: "-e -o -s -p -E -u"},
	"ltrace":     {values: "-e -o -s -p -u"},
	"script":     {values: "-o", line: "-c"},
	"chroot":     {skip: 1},
	"unshare":    {values: "-S -G"},
	"taskset":    {skip: 1},
	"chrt":       {skip: 1},
	"flock":      {values: "-w -E", line: "-c", skip: 1},
	"entr":       {},
	"retry":      {values: "-n -d"},
	"direnv":     {skip: 2},
	"mise":       {skip: 1},
	"busybox":    {},
}

// judgeWrapped judges the program that a wrapper runs.
func (s *shell) judgeWrapped(w wrapper, args []string) {
	was := s.dir
	defer func() { s.dir = was }()
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || isAssignment(args[0])) {
		line, isLine := w.lineIn(args)
		if isLine {
			s.run(line)
			return
		}
		args = s.wrapperOption(w, args[0], args[1:])
	}
	args = args[min(w.skip, len(args)):]
	if i := slices.Index(args, "::::"); w.isFed && i >= 0 { // parallel reads arguments from files
		s.readFiles(args[i+1:], "::::")
	}
	switch {
	case w.isLine:
		s.run(strings.Join(args, " "))
	case w.isFed && len(args) > 0:
		s.simple(append(slices.Clone(args), unknownWord))
	default:
		s.simple(args)
	}
}

// lineIn returns the command line that the first argument of a wrapper introduces, if any.
func (w *wrapper) lineIn(args []string) (line string, ok bool) {
	if args[0] == w.line && len(args) > 1 {
		return args[1], true
	}
	line = splitLine(args[0])
	if w.line == "-S" && line != "" { // env -SCOMMAND
		return line + " " + strings.Join(args[1:], " "), true
	}
	return "", false
}

// wrapperOption processes an option of a wrapper. It returns the arguments after the option and the
// option's value.
func (s *shell) wrapperOption(w wrapper, option string, args []string) []string {
	hasValue := len(args) > 0
	switch {
	case option == "--":
	case option == w.dir && hasValue:
		s.changeDir(args[:1])
		return args[1:]
	case strings.HasPrefix(option, "--chdir="):
		s.changeDir([]string{strings.TrimPrefix(option, "--chdir=")})
	case w.isFed && option == "-a" && hasValue:
		s.readFiles(args[:1], option)
		return args[1:]
	case w.isFed && (strings.HasPrefix(option, "-a") || strings.HasPrefix(option, "--arg-file=")):
		s.readFiles(optionFiles([]string{option}), option)
	case hasWord(w.values, option) && hasValue:
		return args[1:]
	}
	return args
}

// splitLine returns the command line in an option of env, as in -SCOMMAND, or "".
func splitLine(option string) string {
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

// shellProgram judges a shell that is run with arguments.
func (s *shell) shellProgram(p program) {
	for i, a := range p.args {
		isShort := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c")
		isCommand := isShort || strings.EqualFold(a, "-Command") || strings.EqualFold(a, "/c")
		hasCommand := isCommand && i+1 < len(p.args)
		if hasCommand && p.args[i+1] != unknownWord {
			inner := *s
			inner.vars = maps.Clone(s.vars)
			inner.run(p.args[i+1])
			return
		}
	}
	s.j.raise(Unvouched, p.what) // the program runs a script or its standard input
}

// manager describes a package manager or a build tool. Its subcommand determines the output's
// origin. The subcommand is a word or two words, such as mod/tidy.
type manager struct {
	own      string // subcommands that print texts of the project
	runs     string // subcommands that run the program in the next arguments
	unknown  string // subcommands that run a program from the project or a package
	isRunner bool   // whether other subcommands are programs of packages
}

// managers are package managers and build tools. Subcommands that are not listed print texts
// from packages or other machines.
var managers = map[string]manager{
	"npm":  {own: "test t run run-script start build pack version init prefix root bin config set pkg lint"},
	"pnpm": {own: "test t run start build lint typecheck check pack init"},
	"yarn": {own: "test run start build lint typecheck check pack init workspaces workspace"},
	"bun":  {own: "test run build init"},
	"deno": {own: "test check lint fmt task compile", unknown: "run eval"},
	"npx": {
		own:      "tsc eslint jest vitest prettier mocha playwright biome ava tap webpack rollup vite esbuild",
		isRunner: true,
	},
	"bunx": {own: "tsc eslint jest vitest prettier biome", isRunner: true},
	"pnpx": {own: "tsc eslint jest vitest", isRunner: true},
	"go": {
		own: "build test vet fmt fix env version list clean work telemetry help bug mod/tidy mod/init mod/verify " +
			"mod/graph mod/why mod/edit mod/vendor",
		unknown: "run generate tool",
	},
	"cargo": {
		own:     "build b test t check c clippy fmt bench clean new init nextest version locate-project fix",
		unknown: "run r",
	},
	"pip":       {own: "check cache"},
	"pip3":      {own: "check cache"},
	"uv":        {own: "lock venv version build", runs: "run"},
	"poetry":    {own: "build check lock version", runs: "run"},
	"pipenv":    {runs: "run"},
	"conda":     {own: "activate deactivate env", runs: "run"},
	"gem":       {own: "build"},
	"bundle":    {own: "check", runs: "exec"},
	"rake":      {own: "test spec build lint"},
	"composer":  {own: "validate dump-autoload test"},
	"dotnet":    {own: "build test clean format new sln", unknown: "run"},
	"swift":     {own: "build test format", unknown: "run"},
	"zig":       {own: "build test fmt version", unknown: "run"},
	"flutter":   {own: "test analyze build format"},
	"dart":      {own: "test analyze format compile", unknown: "run"},
	"terraform": {own: "fmt validate"},
	"gh": {
		own:      "pr/create issue/create release/create pr/merge pr/close issue/close pr/checkout config",
		isRunner: true,
	},
	"glab":   {own: "mr/create issue/create", isRunner: true},
	"hub":    {own: "create pull-request", isRunner: true},
	"docker": {own: "build compose/build tag rm rmi stop kill", isRunner: true},
	"mix":    {own: "test compile format"},
}

// manager judges a package manager or a build tool.
func (s *shell) manager(m manager, p program) {
	i := slices.IndexFunc(p.args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 { // the command prints its help or version
		mayRun := m.isRunner && len(p.args) > 0
		if mayRun && !slices.Contains(p.args, "--version") {
			s.j.raise(Foreign, p.what)
		}
		return
	}
	word, rest := p.args[i], p.args[i+1:]
	two := word
	if len(rest) > 0 {
		two += "/" + rest[0]
	}
	switch {
	case hasWord(m.own, word) && !s.isOwnCommand(p.name, word, rest):
		s.j.raise(Foreign, p.what)
	case hasWord(m.own, word), hasWord(m.own, two):
		s.judgeBuild(p)
	case hasWord(m.runs, word):
		s.judgeWrapped(wrapper{values: "--with --python --extra --group -p"}, rest)
	case hasWord(m.unknown, word):
		s.j.raise(Unvouched, p.what)
	case p.name == "go" && word == "doc" && isStandardPackage(rest):
	default:
		s.j.raise(Foreign, p.what)
	}
}

// judgeBuild judges a program that builds or tests a project. The output is the project's own text if the program runs
// in the project, and the arguments name no foreign file, no other directory and no address.
func (s *shell) judgeBuild(p program) {
	isOwn := s.isBuiltHere()
	for _, a := range p.inputFiles() {
		if a == unknownWord {
			s.j.raise(Unvouched, p.what)
			continue
		}
		isOwn = isOwn && s.isOwnInput(a)
	}
	if !isOwn {
		s.j.raise(Foreign, p.what)
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
		s.run(value)
	}
}

// isOwnCommand reports whether a listed subcommand of a package manager prints only the project's
// texts with these arguments.
func (s *shell) isOwnCommand(manager, subcommand string, args []string) bool {
	switch {
	case manager == "go" && slices.Contains([]string{"build", "test", "vet", "list"}, subcommand):
		listsOthers := subcommand == "list" && slices.ContainsFunc(args, func(a string) bool {
			return a == "-deps" || a == "-m" || a == "-u"
		})
		return !listsOthers && s.isOwnPackage(findOperands(args))
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
	modules string // modules whose output is the project's own
	foreign string // modules that print texts by others
	code    string // options that are followed by code
	own     string // options with which the output is the project's own
}

// interpreters contains the interpreters by name, without version numbers.
var interpreters = map[string]interpreter{
	"python": {
		modules: "pytest unittest py_compile compileall mypy ruff black flake8 doctest json.tool venv tox",
		foreign: "pip pydoc",
		code:    "-c",
		own:     "--version -V",
	},
	"node": {code: "-e -p --eval --print", own: "--test --version -v --check"},
	"ruby": {code: "-e -ne -pe", own: "--version -c"},
	"perl": {code: "-e -E -ne -pe", own: "--version -v"},
	"php":  {code: "-r", own: "--version -l"},
	"lua":  {code: "-e"}, "tsx": {code: "-e"}, "ts-node": {code: "-e"}, "rscript": {code: "-e"},
	"julia": {code: "-e"},
}

func findInterpreter(name string) (interpreter, bool) {
	i, ok := interpreters[strings.TrimRight(name, "0123456789.")]
	return i, ok
}

// interpreter judges a program that runs a script or a module.
func (s *shell) interpreter(i interpreter, p program) {
	level := i.level(p.args)
	s.j.raise(level, p.what)
	if level != Own {
		return
	}
	s.judgeBuild(p)
	if slices.Contains(p.args, "json.tool") {
		s.readFiles(s.namedFiles(p.name, findOperands(p.args)), p.what)
	}
}

// level returns the level of an interpreter's output with these arguments.
func (i *interpreter) level(args []string) Level {
	for n, a := range args {
		rest := args[n+1:]
		switch {
		case a == "-m" && i.modules != "" && len(rest) > 0 && hasWord(i.modules, rest[0]), hasWord(i.own, a):
			return Own
		case a == "-m" && len(rest) > 0 && hasWord(i.foreign, rest[0]):
			return Foreign
		case hasWord(i.code, a):
			code := strings.Join(rest, " ")
			if strings.Contains(code, unknownWord) || reaches().MatchString(code) {
				return Foreign
			}
			return Unvouched
		case !strings.HasPrefix(a, "-"):
			return Unvouched // the script
		}
	}
	return Unvouched
}

// reaches matches code on a command line that may read from other machines, programs or files. Code
// that it does not match is still only Unvouched.
var reaches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)://|urllib|urlopen|requests?\b|httpx?\b|socket|fetch\(|axios|aiohttp|ftplib|smtplib|imaplib|paramiko|boto|LWP|Net::|open-uri|` +
			`subprocess|popen|os\.system|child_process|exec\(|spawn|psycopg|sqlite3|pymysql|redis|mongo|open\(|readFile|read_text|Path\(|File\.read|file_get_contents`,
	)
})
