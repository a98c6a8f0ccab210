// This file contains a table of programs, which says for each program where the text that it prints comes from.

package origin

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// programKind says where the text that a program prints comes from.
type programKind int

const (
	programUnlisted programKind = iota // The program is not listed in programKinds and may print any text.
	programPrinter                     // kind of a program that prints only its own messages and its arguments
	// The program is a build tool, which prints messages about the project that it builds or tests.
	programBuilder
	programReader // kind of a program that prints the files in its arguments
	// The program prints lines of files, such as grep or sed. Its first argument is a pattern or a script. The other
	// arguments name the files.
	programFilter
	programLister // The program prints file names, such as ls.
	// The program prints file names, and the output of a program that it runs for the files.
	programFinder
	programFetcher // The program prints the content of a URL.
	// The program prints text from other machines, packages, databases, containers, logs or the clipboard.
	programForeign
	programDatabase      // The program prints from the database file in its first argument.
	programCopier        // kind of a program that copies files and prints nothing
	programTee           // The program prints its standard input, and also writes this input into files.
	programChangeDir     // The program prints nothing, because it changes the current directory.
	programEval          // The program runs its arguments as a command line and prints the output.
	programReadVariables // The program prints nothing, because it reads standard input into variables.
	programGit           // kind of git, whose commands are examined in the file git.go
	programOxbow         // This is oxbow itself, which prints entries of a memory.
	programShell         // The program prints the output of the script or the command line in its arguments.
)

// programKinds maps the names of known programs to their kinds.
var programKinds = sync.OnceValue(func() map[string]programKind {
	return programKindsByName(map[programKind]string{
		programPrinter: `echo printf true false : test [ pwd mkdir rmdir rm touch chmod chown which type hash whereis tr
		cal whoami id uname hostname arch nproc sleep wait kill pkill killall ps pgrep df du free uptime
		export set unset shift exit return local declare readonly alias umask trap ulimit stat wc basename dirname
		realpath readlink seq expr bc sha256sum sha1sum md5sum cksum cmp truncate mktemp let getopts break continue
		ld ar nm tput clear get-location set-location write-output write-host new-item remove-item test-path`,
		programBuilder: `staticcheck golangci-lint tsc eslint jest vitest mocha pytest tox nox ruff black mypy flake8 pylint isort
		rustc gcc g++ cc c++ clang clang++ javac ctest cmake ninja make gmake mvn mvnw gradle gradlew bazel buck just task
		rspec rubocop phpunit shellcheck swiftc sbt`,
		programOxbow: `oxbow`,
		programReader: `cat bat tac head tail less more nl strings xxd od hexdump base64 cut sort uniq rev fold fmt column
		paste join comm diff sdiff colordiff zcat gzcat bzcat xzcat zless gunzip gzip unzip tar 7z pdftotext pandoc docx2txt
		antiword tesseract exiftool mdls file iconv expand split csvlook xmllint get-content gc glow mdcat view vim nvim
		emacs nano dd source . date gofmt goimports prettier rustfmt clang-format shfmt`,
		programFilter: `grep egrep fgrep zgrep rg ag ack ugrep sed gsed awk gawk mawk jq yq select-string`,
		programLister: `ls dir tree exa eza get-childitem`,
		programFinder: `find fd fdfind`,
		programFetcher: `curl wget http https xh httpie lynx w3m links elinks aria2c axel invoke-webrequest iwr invoke-restmethod irm
		grpcurl websocat yt-dlp youtube-dl`,
		programForeign: `ssh scp sftp rsync telnet nc ncat netcat socat ftp lftp mosh dig nslookup host whois finger
		aws gcloud gsutil bq az doctl heroku flyctl fly vercel netlify wrangler tofu pulumi ansible vault s3cmd rclone mc
		docker-compose podman nerdctl kubectl oc helm k9s minikube kind crictl lxc vagrant
		psql pg_dump mysql mysqldump mariadb mongo mongosh mongodump redis-cli valkey-cli sqlcmd clickhouse-client cqlsh
		influx etcdctl memcached-tool bcp
		mail mutt notmuch himalaya mbsync gmailctl slack discord jira linear acli sentry-cli stern
		apt apt-get apt-cache dpkg dpkg-query yum dnf rpm zypper pacman apk brew port snap flatpak nix nix-env winget choco
		scoop man info tldr cheat apropos whatis pydoc ri perldoc
		journalctl dmesg last locate pbpaste xclip xsel wl-paste get-clipboard svn hg bzr osascript`,
		programDatabase:      `sqlite3 duckdb`,
		programCopier:        `cp mv install ln`,
		programTee:           `tee`,
		programChangeDir:     `cd pushd popd set-location`,
		programEval:          `eval`,
		programReadVariables: `read mapfile readarray`,
		programGit:           `git`,
		programShell:         `sh bash zsh dash ksh ash fish pwsh powershell cmd`,
	})
})

func programKindsByName(names map[programKind]string) map[string]programKind {
	all := map[string]programKind{}
	for k, list := range names {
		for name := range strings.FieldsSeq(list) {
			all[name] = k
		}
	}
	return all
}

// systemProgramDirs are the directories in which a program is trusted to be the program of its name.
var systemProgramDirs = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/go/bin",
	"/opt/homebrew/bin"}

// judgeSimpleCommand records whose text a command may print and which files it writes. The words are a program and its
// arguments.
func (s *shellState) judgeSimpleCommand(words []string) {
	if len(words) == 0 {
		return
	}
	p := program{
		strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(words[0]))), ".exe"),
		words[1:],
		strings.Join(words, " "),
	}
	if words[0] == unknownWord {
		s.verdict.raiseLevel(LevelUnvouched, p.commandText)
		return
	}
	// Projects usually track these scripts, so they count as the project's own.
	isWrapperOfProject := p.name == "gradlew" || p.name == "mvnw"
	dir := path.Dir(filepath.ToSlash(words[0]))
	isElsewhere := dir != "." && !slices.Contains(systemProgramDirs, dir)
	isHere := strings.HasPrefix(words[0], "./")
	mayBeAny := isElsewhere || isHere
	if mayBeAny && !isWrapperOfProject {
		s.verdict.raiseLevel(
			LevelUnvouched,
			p.commandText,
		) // A program outside of systemProgramDirs may be any program, whatever its name is.
	}
	if w, ok := commandWrappers[p.name]; ok {
		s.judgeWrappedProgram(w, p.args)
		return
	}
	if m, ok := packageManagers[p.name]; ok {
		s.judgePackageManager(m, p)
		return
	}
	if i, ok := findInterpreter(p.name); ok {
		s.judgeInterpreter(i, p)
		return
	}
	s.judgeProgram(p)
}

// judgeProgram records whose text a program may print. The program's kind determines how its arguments are examined.
func (s *shellState) judgeProgram(p program) {
	switch programKinds()[p.name] {
	case programPrinter:
	case programBuilder:
		s.judgeBuildProgram(p)
		if slices.Contains(p.args, "-E") { // With -E, a compiler prints the source file.
			s.judgeReadFiles(s.operandFiles(p.name, findOperands(p.args)), p.commandText)
		}
	case programReader:
		s.judgeReadFiles(
			append(s.operandFiles(p.name, findOperands(p.args)), optionValueFiles(p.args)...),
			p.commandText,
		)
	case programFilter:
		s.judgeFilter(p)
	case programLister:
		s.judgeReadFiles(slices.DeleteFunc(findOperands(p.args), func(a string) bool {
			return !strings.ContainsAny(a, `/\.~*`) && !s.hasFile(a)
		}), p.commandText)
	case programFinder:
		s.judgeFinder(p)
	case programFetcher:
		s.judgeFetcher(p)
	case programForeign:
		s.verdict.raiseLevel(LevelForeign, p.commandText)
	case programDatabase:
		s.judgeReadFiles(findOperands(p.args), p.commandText)
	case programShell:
		s.judgeShellProgram(p)
	case programGit:
		s.judgeGit(p)
	case programUnlisted:
		s.verdict.raiseLevel(LevelUnvouched, p.commandText)
	default:
		s.judgeQuietProgram(p)
	}
}

// judgeQuietProgram examines a program that prints no text of its own, such as cp, cd or eval. It records the files
// and commands in the program's arguments.
func (s *shellState) judgeQuietProgram(p program) {
	switch programKinds()[p.name] {
	case programOxbow:
		if s.readsOtherHome(p.args) {
			s.verdict.raiseLevel(LevelForeign, p.commandText)
		}
	case programCopier:
		s.judgeCopy(p.args)
	case programTee:
		s.recordWrites(findOperands(p.args), s.verdict.highestLevel == LevelOwn)
	case programChangeDir:
		s.changeDir(p.args)
	case programEval:
		if slices.Contains(p.args, unknownWord) {
			s.verdict.raiseLevel(LevelUnvouched, p.commandText)
		}
		s.judgeShellLine(strings.Join(p.args, " "))
	case programReadVariables:
		for _, name := range findOperands(p.args) {
			s.addVariableValues(name, unknownWordValues)
		}
	}
}

// operandFiles returns the operands that name files. An operand that may also be a number or the value of an option
// gets the prefix "?", which means that it is ignored if no such file exists.
func (s *shellState) operandFiles(name string, operands []string) (files []string) {
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

// judgeFetcher records whose text a program such as curl may print. If an argument is a URL or is not known, the text
// is by others.
func (s *shellState) judgeFetcher(p program) {
	level := LevelUnvouched
	if slices.ContainsFunc(p.args, func(a string) bool { return a == unknownWord || isRemoteAddress(a) }) {
		level = LevelForeign
	}
	s.verdict.raiseLevel(level, p.commandText)
	takesName := p.name != "curl"
	usesBase := p.name == "wget" || slices.Contains(p.args, "-O") || slices.Contains(p.args, "--remote-name")
	for i, a := range p.args {
		switch {
		case (a == "-o" || a == "--output" || (a == "-O" && takesName) || a == "--output-document") &&
			i+1 < len(p.args):
			s.recordOtherWrite(p.args[i+1])
		case strings.HasPrefix(a, "--output"):
			_, file, _ := strings.Cut(a, "=")
			s.recordOtherWrite(file)
		case usesBase && isRemoteAddress(a):
			s.recordOtherWrite(path.Base(a))
		}
	}
}

// judgeCopy records which files cp, mv and similar programs write. The copies count as the agent's own text only if
// all source files do.
func (s *shellState) judgeCopy(args []string) {
	rest := findOperands(args)
	if len(rest) < 2 {
		return
	}
	from, to := rest[:len(rest)-1], rest[len(rest)-1]
	// A copy to a device such as /dev/stdout prints the files.
	if strings.HasPrefix(to, "/dev/") || strings.HasPrefix(to, "/proc/") {
		s.judgeReadFiles(from, "cp "+strings.Join(rest, " "))
		return
	}
	isOwn := s.highestFileLevel(from) == LevelOwn
	// Also judge the last operand, because it is a source if cp or mv is called with the option -t.
	if !isOwn || s.highestFileLevel([]string{"?" + to}) != LevelOwn {
		s.verdict.unnamedFilesLevel = LevelForeign
	}
	s.recordWrites([]string{to}, isOwn)
	for _, f := range from {
		s.recordWrites([]string{path.Join(to, path.Base(filepath.ToSlash(f)))}, isOwn)
	}
}

// judgeFilter judges a program whose first argument is a pattern or a script, such as grep or sed. If an option
// contains the pattern or script, all arguments are files.
func (s *shellState) judgeFilter(p program) {
	rest := findOperands(p.args)
	hasPattern := slices.ContainsFunc(p.args, func(a string) bool {
		return a == "-e" || a == "-f" || strings.HasPrefix(a, "--regexp") || strings.HasPrefix(a, "--file")
	})
	if !hasPattern && len(rest) > 0 {
		s.judgeScript(p, rest[0])
		rest = rest[1:]
	}
	files := append(s.operandFiles(p.name, rest), optionValueFiles(p.args)...)
	readsDir := p.isRecursiveSearch() &&
		!s.isPiped // A recursive search without file operands reads the current directory, unless it reads a pipe.
	if readsDir && len(rest) == 0 {
		files = []string{"."}
	}
	s.judgeSearchedFiles(files, p.commandText)
}

// judgeScript examines a script of sed or awk, because such a script may read files and run commands.
func (s *shellState) judgeScript(p program, script string) {
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
	s.judgeReadFiles(named, p.commandText)
	runsCommand := strings.Contains(script, "system(") || strings.Contains(script, "getline") ||
		(strings.HasSuffix(p.name, "sed") && sedCommandPattern().MatchString(script)) ||
		(strings.HasSuffix(p.name, "awk") && strings.Contains(script, "|"))
	if runsCommand || strings.Contains(script, unknownWord) {
		s.verdict.raiseLevel(LevelUnvouched, p.commandText)
	}
}

// sedCommandPattern matches a sed script that may run a command, with the command e or with the flag e of a
// replacement.
var sedCommandPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s;{}0-9$/!])e(?:[\s;}]|$)`) },
)

// isRecursiveSearch reports whether the program searches directories and not only files.
func (p *program) isRecursiveSearch() bool {
	if slices.Contains([]string{"rg", "ag", "ack"}, p.name) {
		return true
	}
	return strings.Contains(p.name, "grep") && slices.ContainsFunc(p.args, func(a string) bool {
		isShort := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--")
		return a == "--recursive" || (isShort && strings.ContainsAny(a, "rR"))
	})
}

// judgeFinder judges a program that finds files, and the program that it runs for the found files.
func (s *shellState) judgeFinder(p program) {
	roots := p.args
	if i := slices.IndexFunc(p.args, func(a string) bool {
		return strings.HasPrefix(a, "-") || a == "(" || a == "!"
	}); i >= 0 {
		roots = p.args[:i]
	}
	if p.name != "find" { // In other finders than find, the first operand is a pattern.
		rest := findOperands(p.args)
		roots = rest[min(1, len(rest)):]
	}
	s.judgeReadFiles(roots, p.commandText)
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
		s.judgeSimpleCommand(replaceUnknownWords(run))
	}
}

// replaceUnknownWords replaces each word by unknownWord if a part of the word is not known, such as a variable's
// value.
func replaceUnknownWords(words []string) []string {
	for i, w := range words {
		if strings.Contains(w, unknownWord) {
			words[i] = unknownWord
		}
	}
	return words
}
