// This file has a table that specifies, for each program, where its output comes from.

package origin

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kind determines the origin of the text that a program prints.
type kind int

const (
	unlisted   kind = iota // any text
	prints                 // messages of the program, and texts from its arguments
	building               // messages about the project, which it builds or tests
	reader                 // the files in its arguments
	filter                 // likewise, but the first argument is a pattern or a script
	lister                 // names of files
	finder                 // file names, and the output of a program that it runs
	fetcher                // the content of a URL
	foreign                // text from other machines, packages, databases, containers, logs or the clipboard
	database               // the file in its first argument
	copier                 // nothing, because it copies files
	teeing                 // standard input, which the program also writes into files
	moving                 // nothing, because it changes the directory
	evaluating             // the output of the command line in its arguments
	setting                // nothing, because it reads standard input into variables
	gitKind                // see git.go
	ownKind                // a memory's entries (this is oxbow itself)
	shellKind              // the output of the script or the command line in its arguments
)

// kinds contains the kinds of programs by name.
var kinds = sync.OnceValue(func() map[string]kind {
	return kindsByName(map[kind]string{
		prints: `echo printf true false : test [ pwd mkdir rmdir rm touch chmod chown which type hash whereis tr
		cal whoami id uname hostname arch nproc sleep wait kill pkill killall ps pgrep df du free uptime
		export set unset shift exit return local declare readonly alias umask trap ulimit stat wc basename dirname
		realpath readlink seq expr bc sha256sum sha1sum md5sum cksum cmp truncate mktemp let getopts break continue
		ld ar nm tput clear get-location set-location write-output write-host new-item remove-item test-path`,
		building: `staticcheck golangci-lint tsc eslint jest vitest mocha pytest tox nox ruff black mypy flake8 pylint isort
		rustc gcc g++ cc c++ clang clang++ javac ctest cmake ninja make gmake mvn mvnw gradle gradlew bazel buck just task
		rspec rubocop phpunit shellcheck swiftc sbt`,
		ownKind: `oxbow`,
		reader: `cat bat tac head tail less more nl strings xxd od hexdump base64 cut sort uniq rev fold fmt column
		paste join comm diff sdiff colordiff zcat gzcat bzcat xzcat zless gunzip gzip unzip tar 7z pdftotext pandoc docx2txt
		antiword tesseract exiftool mdls file iconv expand split csvlook xmllint get-content gc glow mdcat view vim nvim
		emacs nano dd source . date gofmt goimports prettier rustfmt clang-format shfmt`,
		filter: `grep egrep fgrep zgrep rg ag ack ugrep sed gsed awk gawk mawk jq yq select-string`,
		lister: `ls dir tree exa eza get-childitem`,
		finder: `find fd fdfind`,
		fetcher: `curl wget http https xh httpie lynx w3m links elinks aria2c axel invoke-webrequest iwr invoke-restmethod irm
		grpcurl websocat yt-dlp youtube-dl`,
		foreign: `ssh scp sftp rsync telnet nc ncat netcat socat ftp lftp mosh dig nslookup host whois finger
		aws gcloud gsutil bq az doctl heroku flyctl fly vercel netlify wrangler tofu pulumi ansible vault s3cmd rclone mc
		docker-compose podman nerdctl kubectl oc helm k9s minikube kind crictl lxc vagrant
		psql pg_dump mysql mysqldump mariadb mongo mongosh mongodump redis-cli valkey-cli sqlcmd clickhouse-client cqlsh
		influx etcdctl memcached-tool bcp
		mail mutt notmuch himalaya mbsync gmailctl slack discord jira linear acli sentry-cli stern
		apt apt-get apt-cache dpkg dpkg-query yum dnf rpm zypper pacman apk brew port snap flatpak nix nix-env winget choco
		scoop man info tldr cheat apropos whatis pydoc ri perldoc
		journalctl dmesg last locate pbpaste xclip xsel wl-paste get-clipboard svn hg bzr osascript`,
		database:   `sqlite3 duckdb`,
		copier:     `cp mv install ln`,
		teeing:     `tee`,
		moving:     `cd pushd popd set-location`,
		evaluating: `eval`,
		setting:    `read mapfile readarray`,
		gitKind:    `git`,
		shellKind:  `sh bash zsh dash ksh ash fish pwsh powershell cmd`,
	})
})

func kindsByName(names map[kind]string) map[string]kind {
	all := map[string]kind{}
	for k, list := range names {
		for name := range strings.FieldsSeq(list) {
			all[name] = k
		}
	}
	return all
}

// systemDirs are directories of programs that do not belong to a project.
var systemDirs = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/go/bin",
	"/opt/homebrew/bin"}

// simple judges a program and its arguments.
func (s *shell) simple(words []string) {
	if len(words) == 0 {
		return
	}
	p := program{
		strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(words[0]))), ".exe"),
		words[1:],
		strings.Join(words, " "),
	}
	if words[0] == unknownWord {
		s.j.raise(Unvouched, p.what)
		return
	}
	isWrapperOfProject := p.name == "gradlew" || p.name == "mvnw" // projects usually track these scripts
	dir := path.Dir(filepath.ToSlash(words[0]))
	isElsewhere := dir != "." && !slices.Contains(systemDirs, dir)
	isHere := strings.HasPrefix(words[0], "./")
	mayBeAny := isElsewhere || isHere
	if mayBeAny && !isWrapperOfProject {
		s.j.raise(Unvouched, p.what) // a program outside of systemDirs may be any program, whatever its name
	}
	if w, ok := wrappers[p.name]; ok {
		s.judgeWrapped(w, p.args)
		return
	}
	if m, ok := managers[p.name]; ok {
		s.manager(m, p)
		return
	}
	if i, ok := findInterpreter(p.name); ok {
		s.interpreter(i, p)
		return
	}
	s.judge(p)
}

// judge judges a program by its kind.
func (s *shell) judge(p program) {
	switch kinds()[p.name] {
	case prints:
	case building:
		s.judgeBuild(p)
		if slices.Contains(p.args, "-E") { // a compiler prints the file
			s.readFiles(s.namedFiles(p.name, findOperands(p.args)), p.what)
		}
	case reader:
		s.readFiles(append(s.namedFiles(p.name, findOperands(p.args)), optionFiles(p.args)...), p.what)
	case filter:
		s.filter(p)
	case lister:
		s.readFiles(slices.DeleteFunc(findOperands(p.args), func(a string) bool {
			return !strings.ContainsAny(a, `/\.~*`) && !s.hasFile(a)
		}), p.what)
	case finder:
		s.finder(p)
	case fetcher:
		s.fetch(p)
	case foreign:
		s.j.raise(Foreign, p.what)
	case database:
		s.readFiles(findOperands(p.args), p.what)
	case shellKind:
		s.shellProgram(p)
	case gitKind:
		s.git(p)
	case unlisted:
		s.j.raise(Unvouched, p.what)
	default:
		s.quiet(p)
	}
}

// quiet judges a program that prints no text of its own.
func (s *shell) quiet(p program) {
	switch kinds()[p.name] {
	case ownKind:
		if s.isOtherHome(p.args) {
			s.j.raise(Foreign, p.what)
		}
	case copier:
		s.judgeCopy(p.args)
	case teeing:
		s.write(findOperands(p.args), s.j.level == Own)
	case moving:
		s.changeDir(p.args)
	case evaluating:
		if slices.Contains(p.args, unknownWord) {
			s.j.raise(Unvouched, p.what)
		}
		s.run(strings.Join(p.args, " "))
	case setting:
		for _, name := range findOperands(p.args) {
			s.addToVariable(name, manyValues)
		}
	}
}

// namedFiles returns the operands that are files. An operand that may be a number or the value of
// an option gets the prefix "?", which means that it counts only if the file exists.
func (s *shell) namedFiles(name string, operands []string) (files []string) {
	isName := func(a string) bool {
		return name == "cat" || name == "." || name == "source" || strings.ContainsAny(a, `/\.*?`) || a == unknownWord
	}
	for _, a := range operands {
		value, isValue := strings.CutPrefix(a, "if=")
		switch {
		case a == "-":
		case name == "dd" && isValue:
			files = append(files, value)
		case name == "dd":
		case isName(a):
			files = append(files, a)
		default:
			files = append(files, "?"+a)
		}
	}
	return files
}

// fetch judges a program that reads a URL.
func (s *shell) fetch(p program) {
	level := Unvouched
	if slices.ContainsFunc(p.args, func(a string) bool { return a == unknownWord || isRemote(a) }) {
		level = Foreign
	}
	s.j.raise(level, p.what)
	takesName := p.name != "curl"
	usesBase := p.name == "wget" || slices.Contains(p.args, "-O") || slices.Contains(p.args, "--remote-name")
	for i, a := range p.args {
		switch {
		case (a == "-o" || a == "--output" || (a == "-O" && takesName) || a == "--output-document") &&
			i+1 < len(p.args):
			s.writeOther(p.args[i+1])
		case strings.HasPrefix(a, "--output"):
			_, file, _ := strings.Cut(a, "=")
			s.writeOther(file)
		case usesBase && isRemote(a):
			s.writeOther(path.Base(a))
		}
	}
}

// judgeCopy judges cp, mv and similar programs. If all files that it reads are the agent's own, so
// are the files that it writes.
func (s *shell) judgeCopy(args []string) {
	rest := findOperands(args)
	if len(rest) < 2 {
		return
	}
	from, to := rest[:len(rest)-1], rest[len(rest)-1]
	if strings.HasPrefix(to, "/dev/") || strings.HasPrefix(to, "/proc/") { // such as /dev/stdout
		s.readFiles(from, "cp "+strings.Join(rest, " "))
		return
	}
	isOwn := s.fileLevel(from) == Own
	if !isOwn || s.fileLevel([]string{"?" + to}) != Own { // the last operand is a source after -t
		s.j.runs = Foreign
	}
	s.write([]string{to}, isOwn)
	for _, f := range from {
		s.write([]string{path.Join(to, path.Base(filepath.ToSlash(f)))}, isOwn)
	}
}

// filter judges a program whose first argument is a pattern or a script, unless an option contains
// the pattern or script.
func (s *shell) filter(p program) {
	rest := findOperands(p.args)
	hasPattern := slices.ContainsFunc(p.args, func(a string) bool {
		return a == "-e" || a == "-f" || strings.HasPrefix(a, "--regexp") || strings.HasPrefix(a, "--file")
	})
	if !hasPattern && len(rest) > 0 {
		s.script(p, rest[0])
		rest = rest[1:]
	}
	files := append(s.namedFiles(p.name, rest), optionFiles(p.args)...)
	readsDir := p.isRecursive() && !s.isPiped // unless files are named
	if readsDir && len(rest) == 0 {
		files = []string{"."}
	}
	s.search(files, p.what)
}

// script judges the script of sed or awk, which may name files and run commands.
func (s *shell) script(p program, script string) {
	isScript := strings.HasSuffix(p.name, "sed") || strings.HasSuffix(p.name, "awk")
	if !isScript {
		return
	}
	var named []string
	isBetween := func(r rune) bool { return strings.ContainsRune(" \t\n;\"'(){}<>", r) }
	for _, word := range strings.FieldsFunc(script, isBetween) {
		if s.hasFile(word) {
			named = append(named, word)
		}
	}
	s.readFiles(named, p.what)
	runsCommand := strings.Contains(script, "system(") || strings.Contains(script, "getline") ||
		(strings.HasSuffix(p.name, "sed") && sedRuns().MatchString(script)) ||
		(strings.HasSuffix(p.name, "awk") && strings.Contains(script, "|"))
	if runsCommand || strings.Contains(script, unknownWord) {
		s.j.raise(Unvouched, p.what)
	}
}

// sedRuns matches a sed script that may run a command, by the command e or a replacement's flag e.
var sedRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s;{}0-9$/!])e(?:[\s;}]|$)`) })

// isRecursive reports whether the program searches directories.
func (p *program) isRecursive() bool {
	if slices.Contains([]string{"rg", "ag", "ack"}, p.name) {
		return true
	}
	return strings.Contains(p.name, "grep") && slices.ContainsFunc(p.args, func(a string) bool {
		isShort := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--")
		return a == "--recursive" || (isShort && strings.ContainsAny(a, "rR"))
	})
}

// finder judges a program that finds files, and also the program that the finder runs for the
// files.
func (s *shell) finder(p program) {
	roots := p.args
	if i := slices.IndexFunc(p.args, func(a string) bool {
		return strings.HasPrefix(a, "-") || a == "(" || a == "!"
	}); i >= 0 {
		roots = p.args[:i]
	}
	if p.name != "find" { // the first operand is a pattern
		rest := findOperands(p.args)
		roots = rest[min(1, len(rest)):]
	}
	s.readFiles(roots, p.what)
	for i, a := range p.args {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, a) {
			continue
		}
		run := slices.Clone(p.args[i+1:])
		if end := slices.IndexFunc(run, func(a string) bool { return a == ";" || a == "+" }); end >= 0 {
			run = run[:end]
		}
		for k, a := range run {
			run[k] = strings.ReplaceAll(a, "{}", unknownWord)
		}
		s.simple(hideUnknown(run))
	}
}

// hideUnknown replaces each word that is partly unknown by unknownWord.
func hideUnknown(words []string) []string {
	for i, w := range words {
		if strings.Contains(w, unknownWord) {
			words[i] = unknownWord
		}
	}
	return words
}
