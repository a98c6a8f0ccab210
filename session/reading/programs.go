// This file is the table of programs: whose words each prints.

package reading

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// programs are the programs whose output is known, by what they print. A program that is
// in no row prints unvouched text.
var programs = struct {
	own     []string // their own words, and what the agent gave them
	readers []string // the files that their arguments name
	scripts []string // likewise, but the first argument is a script or pattern
	lists   []string // names of files and lines of files below directories
	fetch   []string // what an address leads to
	foreign []string // text from other machines, packages, databases, containers, logs and the clipboard
	managed map[string][]string
	wraps   []string // run the program that follows them
	shells  []string
}{
	own: []string{
		"echo", "printf", "true", "false", ":", "test", "[", "pwd", "mkdir", "rmdir", "rm", "touch", "chmod", "chown", "ln", "which", "type", "hash", "whereis",
		"date", "cal", "whoami", "id", "uname", "hostname", "arch", "nproc", "sleep", "wait", "kill", "pkill", "killall", "ps", "pgrep", "df", "du", "free", "uptime",
		"export", "set", "unset", "shift", "exit", "return", "local", "declare", "readonly", "alias", "umask", "trap", "ulimit", "stat", "wc", "basename", "dirname",
		"realpath", "readlink", "seq", "expr", "bc", "sha256sum", "sha1sum", "md5sum", "cksum", "cmp", "truncate", "mktemp", "let", "getopts", "break", "continue",
		"gofmt", "goimports", "staticcheck", "golangci-lint", "tsc", "eslint", "prettier", "jest", "vitest", "mocha", "pytest", "tox", "nox", "ruff", "black",
		"mypy", "flake8", "pylint", "isort", "rustc", "rustfmt", "gcc", "g++", "cc", "c++", "clang", "clang++", "clang-format", "javac", "ctest", "cmake", "ninja", "make",
		"gmake", "mvn", "mvnw", "gradle", "gradlew", "bazel", "buck", "just", "task", "rspec", "rubocop", "phpunit", "shellcheck", "shfmt", "ld", "ar", "nm", "tput", "clear",
		"get-location", "set-location", "write-output", "write-host", "new-item", "remove-item", "test-path", "oxbow", "swiftc", "mix", "sbt",
	},
	readers: []string{
		"cat", "bat", "tac", "head", "tail", "less", "more", "nl", "strings", "xxd", "od", "hexdump", "base64", "cut", "sort", "uniq", "rev", "fold", "fmt", "column",
		"paste", "join", "comm", "diff", "sdiff", "colordiff", "zcat", "gzcat", "bzcat", "xzcat", "zless", "gunzip", "gzip", "unzip", "tar", "7z", "pdftotext", "pandoc", "docx2txt",
		"antiword", "tesseract", "exiftool", "mdls", "file", "iconv", "expand", "tee", "split", "csvlook", "xmllint", "get-content", "gc", "glow", "mdcat", "view", "vim", "nvim", "emacs", "nano",
		"cp", "mv", "install", "dd", "source", ".",
	},
	scripts: []string{"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "tr", "select-string"},
	lists:   []string{"ls", "dir", "tree", "find", "fd", "fdfind", "exa", "eza", "locate", "get-childitem"},
	fetch: []string{"curl", "wget", "http", "https", "xh", "httpie", "lynx", "w3m", "links", "elinks", "aria2c", "axel", "invoke-webrequest", "iwr", "invoke-restmethod", "irm", "grpcurl",
		"websocat", "yt-dlp", "youtube-dl"},
	foreign: []string{
		"ssh", "scp", "sftp", "rsync", "telnet", "nc", "ncat", "netcat", "socat", "ftp", "lftp", "mosh", "dig", "nslookup", "host", "whois", "finger",
		"aws", "gcloud", "gsutil", "bq", "az", "doctl", "heroku", "flyctl", "fly", "vercel", "netlify", "wrangler", "terraform", "tofu", "pulumi", "ansible", "vault", "s3cmd", "rclone", "mc",
		"docker", "docker-compose", "podman", "nerdctl", "kubectl", "oc", "helm", "k9s", "minikube", "kind", "crictl", "lxc", "vagrant",
		"psql", "pg_dump", "mysql", "mysqldump", "mariadb", "mongo", "mongosh", "mongodump", "redis-cli", "valkey-cli", "sqlcmd", "clickhouse-client", "cqlsh", "influx", "etcdctl", "memcached-tool", "bcp",
		"mail", "mutt", "notmuch", "himalaya", "mbsync", "gmailctl", "slack", "discord", "jira", "linear", "acli", "sentry-cli", "stern",
		"apt", "apt-get", "apt-cache", "dpkg", "dpkg-query", "yum", "dnf", "rpm", "zypper", "pacman", "apk", "brew", "port", "snap", "flatpak", "nix", "nix-env", "winget", "choco", "scoop",
		"man", "info", "tldr", "cheat", "apropos", "whatis", "pydoc", "ri", "perldoc",
		"journalctl", "dmesg", "last", "pbpaste", "xclip", "xsel", "wl-paste", "get-clipboard", "svn", "hg", "bzr", "osascript",
	},
	// Package managers and build tools: the words after them with which they print the
	// project's own words. With others they print what packages say.
	managed: map[string][]string{
		"npm":  {"test", "t", "run", "run-script", "start", "build", "pack", "version", "init", "prefix", "root", "bin", "config", "set", "pkg", "lint"},
		"pnpm": {"test", "t", "run", "start", "build", "lint", "typecheck", "check", "pack", "init"},
		"yarn": {"test", "run", "start", "build", "lint", "typecheck", "check", "pack", "init", "workspaces", "workspace"},
		"bun":  {"test", "run", "build", "init"}, "deno": {"test", "check", "lint", "fmt", "task", "compile"},
		"npx":  {"tsc", "eslint", "jest", "vitest", "prettier", "mocha", "playwright", "biome", "ava", "tap", "webpack", "rollup", "vite", "esbuild"},
		"bunx": {"tsc", "eslint", "jest", "vitest", "prettier", "biome"}, "pnpx": {"tsc", "eslint", "jest", "vitest"},
		"go":       {"build", "test", "vet", "fmt", "fix", "env", "version", "list", "tool", "clean", "work", "telemetry", "help", "bug"},
		"cargo":    {"build", "b", "test", "t", "check", "c", "clippy", "fmt", "bench", "clean", "new", "init", "nextest", "version", "metadata", "locate-project", "fix"},
		"pip":      {"check", "--version", "cache"},
		"pip3":     {"check", "--version", "cache"},
		"uv":       {"lock", "venv", "version", "--version", "build"},
		"poetry":   {"build", "check", "lock", "version"},
		"conda":    {"activate", "deactivate", "env"},
		"gem":      {"build"},
		"bundle":   {"check"},
		"rake":     {"test", "spec", "build", "lint"},
		"composer": {"validate", "dump-autoload", "test"},
		"dotnet":   {"build", "test", "clean", "format", "--version", "new", "sln"},
		"swift":    {"build", "test", "format", "--version"},
		"zig":      {"build", "test", "fmt", "version"},
		"flutter":  {"test", "analyze", "build", "format"}, "dart": {"test", "analyze", "format", "compile"},
		"terraform": {"fmt", "validate"}, "gh": {"auth", "pr create", "issue create", "release create", "pr merge", "pr close", "issue close", "pr checkout", "config", "--version"},
		"glab": {"auth", "mr create", "issue create"}, "hub": {"create", "pull-request"},
		"docker": {"build", "compose build", "tag", "rm", "rmi", "stop", "kill"}, "mix": {"test", "compile", "format"},
	},
	wraps: []string{"sudo", "doas", "env", "time", "nohup", "nice", "ionice", "timeout", "gtimeout", "stdbuf", "command", "exec", "builtin", "setsid", "unbuffer", "caffeinate", "watch",
		"xargs", "parallel", "strace", "ltrace", "script", "chroot", "unshare", "taskset", "chrt", "flock", "entr", "retry", "direnv", "mise", "busybox"},
	shells: []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "pwsh", "powershell", "cmd"},
}

// interpreters are programs that run scripts, with the modules of which the output is the
// project's own.
var interpreters = map[string][]string{
	"python": {"pytest", "unittest", "py_compile", "compileall", "mypy", "ruff", "black", "flake8", "doctest", "json.tool", "venv", "tox"},
	"node":   nil, "ruby": nil, "perl": nil, "php": nil, "lua": nil, "tsx": nil, "ts-node": nil, "deno": nil, "rscript": nil, "julia": nil,
}

// reaches finds, in a script on a command line, what reads from other machines, programs or
// files.
var reaches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)://|urllib|urlopen|requests?\b|httpx?\b|socket|fetch\(|axios|aiohttp|ftplib|smtplib|imaplib|paramiko|boto|LWP|Net::|open-uri|` +
		`subprocess|popen|os\.system|child_process|exec\(|spawn|psycopg|sqlite3|pymysql|redis|mongo|open\(|readFile|read_text|Path\(|File\.read|file_get_contents`)
})

// simple judges a program and its arguments. An argument that is not known is unknownWord.
func (s *shell) simple(words []string) {
	if len(words) == 0 {
		return
	}
	what := strings.Join(words, " ")
	if words[0] == unknownWord {
		s.j.raise(Unvouched, what)
		return
	}
	name := strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(words[0]))), ".exe")
	args := words[1:]
	if slices.Contains(programs.wraps, name) {
		s.wrapped(name, args)
		return
	}
	if isOwn, found := s.managed(name, args); found {
		if !isOwn {
			s.j.raise(Foreign, what)
		}
		return
	}
	switch {
	case name == "cd" || name == "pushd" || name == "set-location":
		s.changeDir(args)
	case name == "git":
		s.git(args, what)
	case name == "eval":
		s.run(strings.Join(args, " "))
	case slices.Contains(programs.shells, name):
		s.shellProgram(args, what)
	case name == "sqlite3" || name == "duckdb":
		s.read(operands(args), what)
	case slices.Contains(programs.foreign, name):
		s.j.raise(Foreign, what)
	case slices.Contains(programs.fetch, name):
		s.fetch(name, args, what)
	case name == "tee":
		s.output(operands(args), s.j.level == Own)
	case name == "cp" || name == "mv" || name == "install" || name == "ln":
		s.copies(args)
	case slices.Contains(programs.readers, name):
		s.read(s.readOperands(name, args), what)
	case slices.Contains(programs.scripts, name):
		s.script(name, args, what)
	case slices.Contains(programs.lists, name):
		s.list(name, args, what)
	case s.interpreter(name, args, what), slices.Contains(programs.own, name) && !strings.Contains(words[0], "/"), name == "gradlew", name == "mvnw":
	default:
		s.j.raise(Unvouched, what)
	}
}

// managed reports whether a package manager or build tool prints the project's own words,
// and whether the program is one.
func (s *shell) managed(name string, args []string) (isOwn, found bool) {
	subs, ok := programs.managed[name]
	if !ok {
		return false, false
	}
	rest := operands(args)
	if len(rest) == 0 {
		return name != "npx" && name != "docker" && name != "gh", true
	}
	if name == "go" {
		return s.goTool(rest), rest[0] != "run" && rest[0] != "generate"
	}
	if name == "cargo" && rest[0] == "run" || name == "uv" && rest[0] == "run" || name == "poetry" && rest[0] == "run" || name == "bundle" && rest[0] == "exec" || name == "dotnet" && rest[0] == "run" {
		if name == "cargo" || name == "dotnet" {
			return false, false // of the project, but it may print anything
		}
		s.simple(rest[1:])
		return true, true
	}
	two := strings.Join(rest[:min(2, len(rest))], " ")
	return slices.Contains(subs, rest[0]) || slices.Contains(subs, two), true
}

// goTool reports whether a go command prints the project's own words.
func (s *shell) goTool(args []string) bool {
	switch args[0] {
	case "mod":
		return len(args) > 1 && slices.Contains([]string{"tidy", "init", "verify", "graph", "why", "edit", "vendor"}, args[1])
	case "doc":
		return len(args) == 1 || !strings.Contains(strings.Split(strings.TrimPrefix(args[1], "./"), "/")[0], ".") || strings.HasPrefix(args[1], "./") || !strings.Contains(args[1], "/")
	}
	return slices.Contains(programs.managed["go"], args[0])
}

// operands returns the arguments that are no options.
func operands(args []string) (rest []string) {
	ended := false
	for _, a := range args {
		switch {
		case a == "--" && !ended:
			ended = true
		case ended || !strings.HasPrefix(a, "-") || a == "-":
			rest = append(rest, a)
		}
	}
	return rest
}

// readOperands returns the files that a reader reads: not the values of its options.
func (s *shell) readOperands(name string, args []string) (files []string) {
	for _, a := range operands(args) {
		isName := name == "cat" || name == "bat" || name == "." || name == "source" || strings.ContainsAny(a, `/\.*?`) || a == unknownWord
		switch {
		case a == "-" || strings.Trim(a, "0123456789+,") == "":
		case name == "dd" && strings.HasPrefix(a, "if="):
			files = append(files, strings.TrimPrefix(a, "if="))
		case name == "dd":
		case isName:
			files = append(files, a)
		default:
			files = append(files, "?"+a) // a file only if it is there
		}
	}
	return files
}

// fetch judges a program that reads an address.
func (s *shell) fetch(name string, args []string, what string) {
	level := Unvouched
	for i, a := range args {
		if a == unknownWord || isRemote(a) {
			level = Foreign
		}
		if (a == "-o" || a == "-O" || a == "--output") && i+1 < len(args) && (name != "curl" || a != "-O") {
			s.output([]string{args[i+1]}, false)
		}
	}
	if name == "wget" || slices.Contains(args, "-O") {
		for _, a := range operands(args) {
			if isRemote(a) {
				s.output([]string{path.Base(a)}, false)
			}
		}
	}
	s.j.raise(level, what)
}

// isRemote reports whether a word of a command is an address on another machine.
func isRemote(w string) bool {
	if strings.HasPrefix(w, "-") {
		return false
	}
	_, host, ok := strings.Cut(w, "://")
	if !ok {
		host = w
	}
	host, _, _ = strings.Cut(host, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 {
		host = host[i+1:]
	}
	if strings.HasPrefix(host, ":") || strings.HasPrefix(host, "[::1]") {
		return false
	}
	host, _, _ = strings.Cut(host, ":")
	isLocal := host == "localhost" || host == "0.0.0.0" || strings.HasPrefix(host, "127.") && strings.Trim(host, "0123456789.") == ""
	return !isLocal && (ok || strings.Contains(host, ".") || host != "" && !strings.ContainsAny(w, "{[=,"))
}

// copies judges cp, mv and the like: what they write is as much the agent's as what they
// read.
func (s *shell) copies(args []string) {
	rest := operands(args)
	if len(rest) < 2 {
		return
	}
	before := *s.j
	s.j.level = Own
	s.read(rest[:len(rest)-1], "")
	isOwn := s.j.level == Own
	s.j.level, s.j.what = before.level, before.what
	to := rest[len(rest)-1]
	s.output([]string{to}, isOwn)
	for _, from := range rest[:len(rest)-1] {
		s.output([]string{path.Join(to, path.Base(filepath.ToSlash(from)))}, isOwn)
	}
}

// script judges a program whose first argument is a script or pattern.
func (s *shell) script(name string, args []string, what string) {
	rest := operands(args)
	hasScript := slices.ContainsFunc(args, func(a string) bool {
		return a == "-e" || a == "-f" || strings.HasPrefix(a, "--regexp") || strings.HasPrefix(a, "--file") || a == "--files"
	})
	if name == "tr" {
		return
	}
	if !hasScript && len(rest) > 0 {
		rest = rest[1:]
	}
	files := s.readOperands(name, rest)
	walks := name == "rg" || name == "ag" || name == "ack" || slices.ContainsFunc(args, func(a string) bool {
		return a == "--recursive" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "rR") && strings.Contains(name, "grep")
	})
	if len(files) == 0 {
		if walks && !s.piped {
			s.search([]string{"."}, what)
		}
		return
	}
	s.search(files, what)
}

// list judges a program that lists files.
func (s *shell) list(name string, args []string, what string) {
	if name == "locate" {
		s.j.raise(Foreign, what)
		return
	}
	if name != "find" && name != "fd" && name != "fdfind" {
		s.read(slices.DeleteFunc(operands(args), func(a string) bool { return !strings.ContainsAny(a, `/\.~*`) && !s.there(a) }), what)
		return
	}
	roots := args
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") || a == "(" || a == "!" }); i >= 0 {
		roots = args[:i]
	}
	if name != "find" {
		roots = nil
		if rest := operands(args); len(rest) > 1 {
			roots = rest[1:]
		}
	}
	s.read(roots, what)
	for i, a := range args {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"}, a) {
			continue
		}
		run := args[i+1:]
		if end := slices.IndexFunc(run, func(a string) bool { return a == ";" || a == "+" }); end >= 0 {
			run = run[:end]
		}
		run = slices.Clone(run)
		for k, a := range run {
			if a == "{}" {
				run[k] = "."
				if len(roots) > 0 {
					run[k] = roots[0]
				}
			}
		}
		s.walked = true
		s.simple(run)
	}
}

// interpreter judges a program that runs a script, and reports whether it is one.
func (s *shell) interpreter(name string, args []string, what string) bool {
	base := strings.TrimRight(name, "0123456789.")
	modules, ok := interpreters[base]
	if !ok {
		return false
	}
	for i, a := range args {
		switch {
		case (a == "-m" && base == "python") && i+1 < len(args):
			if module := args[i+1]; module == "pip" || module == "pydoc" {
				s.j.raise(Foreign, what)
			} else if !slices.Contains(modules, module) {
				s.j.raise(Unvouched, what)
			}
			return true
		case a == "--test" && base == "node":
			return true
		case a == "-c" || a == "-e" || a == "-p" || a == "-r" || a == "-ne" || a == "-pe" || a == "--eval" || a == "eval":
			level := Unvouched
			if code := strings.Join(args[i+1:], " "); reaches().MatchString(code) || strings.Contains(code, unknownWord) {
				level = Foreign
			}
			s.j.raise(level, what)
			return true
		case a == "--version" || a == "-V":
			return true
		}
	}
	s.j.raise(Unvouched, what)
	return true
}
