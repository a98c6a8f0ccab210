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
	programKindUnknown programKind = iota // The program is not listed in programKinds and may print any text.
	// kind of a program that prints only its own messages and its arguments
	programKindMessagePrinter
	// The program is a build tool, which prints messages about the project that it builds or tests.
	programKindBuildTool
	programKindFileReader // kind of a program that prints the files in its arguments
	// The program, such as grep or sed, prints lines of files. Its first argument is a pattern or a script. All further
	// arguments name the files.
	programKindLineFilter
	programKindFileLister // The program, such as ls, prints file names.
	// The program prints file names, and the output of a program that it runs for the files.
	programKindFileFinder
	programKindURLFetcher // The program prints the content of a URL.
	// The program prints text from other machines, packages, databases, containers, logs or the clipboard.
	programKindExternalTextPrinter
	programKindDatabaseReader // The program prints from the database file in its first argument.
	programKindFileCopier     // kind of a program that copies files and prints nothing
	programKindTee            // The program prints its standard input, and also writes this input into files.
	programKindChangeDir      // The program prints nothing, because it changes the current directory.
	programKindEval           // The program runs its arguments as a command line and prints the output.
	programKindVariableReader // The program prints nothing, because it reads standard input into variables.
	programKindGit            // kind of git, whose commands are examined in the file git.go
	programKindOxbow          // This is oxbow itself, which prints entries of a memory.
	programKindShell          // The program prints the output of the script or the command line in its arguments.
)

// programKinds maps the names of known programs to their kinds.
var programKinds = sync.OnceValue(func() map[string]programKind {
	return programKindsByName(map[programKind]string{
		programKindMessagePrinter: `echo printf true false : test [ pwd mkdir rmdir rm touch chmod chown which type hash whereis tr
		cal whoami id uname hostname arch nproc sleep wait kill pkill killall ps pgrep df du free uptime
		export set unset shift exit return local declare readonly alias umask trap ulimit stat wc basename dirname
		realpath readlink seq expr bc sha256sum sha1sum md5sum cksum cmp truncate mktemp let getopts break continue
		ld ar nm tput clear get-location set-location write-output write-host new-item remove-item test-path`,
		programKindBuildTool: `staticcheck golangci-lint tsc eslint jest vitest mocha pytest tox nox ruff black mypy flake8 pylint isort
		rustc gcc g++ cc c++ clang clang++ javac ctest cmake ninja make gmake mvn mvnw gradle gradlew bazel buck just task
		rspec rubocop phpunit shellcheck swiftc sbt`,
		programKindOxbow: `oxbow`,
		programKindFileReader: `cat bat tac head tail less more nl strings xxd od hexdump base64 cut sort uniq rev fold fmt column
		paste join comm diff sdiff colordiff zcat gzcat bzcat xzcat zless gunzip gzip unzip tar 7z pdftotext pandoc docx2txt
		antiword tesseract exiftool mdls file iconv expand split csvlook xmllint get-content gc glow mdcat view vim nvim
		emacs nano dd source . date gofmt goimports prettier rustfmt clang-format shfmt`,
		programKindLineFilter: `grep egrep fgrep zgrep rg ag ack ugrep sed gsed awk gawk mawk jq yq select-string`,
		programKindFileLister: `ls dir tree exa eza get-childitem`,
		programKindFileFinder: `find fd fdfind`,
		programKindURLFetcher: `curl wget http https xh httpie lynx w3m links elinks aria2c axel invoke-webrequest iwr invoke-restmethod irm
		grpcurl websocat yt-dlp youtube-dl`,
		programKindExternalTextPrinter: `ssh scp sftp rsync telnet nc ncat netcat socat ftp lftp mosh dig nslookup host whois finger
		aws gcloud gsutil bq az doctl heroku flyctl fly vercel netlify wrangler tofu pulumi ansible vault s3cmd rclone mc
		docker-compose podman nerdctl kubectl oc helm k9s minikube kind crictl lxc vagrant
		psql pg_dump mysql mysqldump mariadb mongo mongosh mongodump redis-cli valkey-cli sqlcmd clickhouse-client cqlsh
		influx etcdctl memcached-tool bcp
		mail mutt notmuch himalaya mbsync gmailctl slack discord jira linear acli sentry-cli stern
		apt apt-get apt-cache dpkg dpkg-query yum dnf rpm zypper pacman apk brew port snap flatpak nix nix-env winget choco
		scoop man info tldr cheat apropos whatis pydoc ri perldoc
		journalctl dmesg last locate pbpaste xclip xsel wl-paste get-clipboard svn hg bzr osascript`,
		programKindDatabaseReader: `sqlite3 duckdb`,
		programKindFileCopier:     `cp mv install ln`,
		programKindTee:            `tee`,
		programKindChangeDir:      `cd pushd popd set-location`,
		programKindEval:           `eval`,
		programKindVariableReader: `read mapfile readarray`,
		programKindGit:            `git`,
		programKindShell:          `sh bash zsh dash ksh ash fish pwsh powershell cmd`,
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

// judgeSimpleCommandTrust records in the verdict how trusted the command's output is, and which files the command
// writes. The output is less trusted if it may contain text by unknown authors. The parameter words contains a program
// and its arguments.
func (s *shellState) judgeSimpleCommandTrust(words []string) {
	if len(words) == 0 {
		return
	}
	p := program{
		strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(words[0]))), ".exe"),
		words[1:],
		strings.Join(words, " "),
	}
	if words[0] == unknownWordValue {
		s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
		return
	}
	// Projects usually track the scripts gradlew and mvnw in git, so these scripts count as the project's own.
	isWrapperOfProject := p.name == "gradlew" || p.name == "mvnw"
	dir := path.Dir(filepath.ToSlash(words[0]))
	isElsewhere := dir != "." && !slices.Contains(systemProgramDirs, dir)
	isHere := strings.HasPrefix(words[0], "./")
	mayBeAny := isElsewhere || isHere
	// A program outside of systemProgramDirs may be any program, whatever its name is.
	if mayBeAny && !isWrapperOfProject {
		s.verdict.raiseTrustLevel(
			TrustLevelUnvouchedText,
			p.fullCommandText,
		)
	}
	if w, ok := commandWrappers[p.name]; ok {
		s.judgeWrappedProgramTrust(w, p.args)
		return
	}
	if m, ok := packageManagers[p.name]; ok {
		s.judgePackageManagerTrust(m, p)
		return
	}
	if i, ok := findInterpreter(p.name); ok {
		s.judgeInterpreterTrust(i, p)
		return
	}
	s.judgeProgramTrust(p)
}

// judgeProgramTrust records in s.verdict who may have written the text that a program prints, and so how far the text
// can be trusted. The program's kind determines how the program's arguments are examined.
func (s *shellState) judgeProgramTrust(p program) {
	switch programKinds()[p.name] {
	case programKindMessagePrinter:
	case programKindBuildTool:
		s.judgeBuildProgramTrust(p)
		if slices.Contains(p.args, "-E") { // With -E, a compiler prints the source file.
			s.recordPrintedFiles(s.operandFiles(p.name, findOperands(p.args)), p.fullCommandText)
		}
	case programKindFileReader:
		s.recordPrintedFiles(
			append(s.operandFiles(p.name, findOperands(p.args)), findOptionValueFiles(p.args)...),
			p.fullCommandText,
		)
	case programKindLineFilter:
		s.judgeLineFilterTrust(p)
	case programKindFileLister:
		s.recordPrintedFiles(slices.DeleteFunc(findOperands(p.args), func(a string) bool {
			return !strings.ContainsAny(a, `/\.~*`) && !s.hasFile(a)
		}), p.fullCommandText)
	case programKindFileFinder:
		s.judgeFileFinderTrust(p)
	case programKindURLFetcher:
		s.judgeURLFetcherTrust(p)
	case programKindExternalTextPrinter:
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
	case programKindDatabaseReader:
		s.recordPrintedFiles(findOperands(p.args), p.fullCommandText)
	case programKindShell:
		s.judgeShellCallTrust(p)
	case programKindGit:
		s.judgeGitTrust(p)
	case programKindUnknown:
		s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
	default:
		s.judgeTextlessProgramTrust(p)
	}
}

// judgeTextlessProgramTrust judges a program that does not produce text itself, such as cp, cd or eval. It updates the
// shell's state: for example, cd changes the directory, cp and tee record written files, and the commands in eval's
// arguments are judged. If the program may print text that did not come from the agent, it raises the trust level of
// the verdict.
func (s *shellState) judgeTextlessProgramTrust(p program) {
	switch programKinds()[p.name] {
	case programKindOxbow:
		if s.readsOtherProjectMemory(p.args) {
			s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
		}
	case programKindFileCopier:
		s.recordFileCopies(p.args)
	case programKindTee:
		s.recordWrittenFiles(findOperands(p.args), s.verdict.highestTrustLevel == TrustLevelOwnText)
	case programKindChangeDir:
		s.changeDir(p.args)
	case programKindEval:
		if slices.Contains(p.args, unknownWordValue) {
			s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
		}
		s.judgeShellLine(strings.Join(p.args, " "))
	case programKindVariableReader:
		for _, name := range findOperands(p.args) {
			s.addVariableValues(name, valuesOfUnknownWord)
		}
	}
}

// operandFiles returns the operands that name files. An operand that may also be a number or the value of an option
// gets the prefix "?", which means that it is ignored if no such file exists.
func (s *shellState) operandFiles(name string, operands []string) (files []string) {
	isName := func(a string) bool {
		return name == "cat" || name == "." || name == "source" || strings.ContainsAny(a, `/\.*?`) ||
			a == unknownWordValue
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

// judgeURLFetcherTrust judges a program that fetches URLs, such as curl. It sets the trust level of the program's
// output, and records the files into which the program writes the fetched text.
//
// The trust level is TrustLevelForeignText (somebody else wrote the text) if an argument is an address on another
// machine, or if the value of an argument cannot be determined. Otherwise the trust level is TrustLevelUnvouchedText
// (the author is not known).
func (s *shellState) judgeURLFetcherTrust(p program) {
	level := TrustLevelUnvouchedText
	if slices.ContainsFunc(p.args, func(a string) bool { return a == unknownWordValue || isRemoteAddress(a) }) {
		level = TrustLevelForeignText
	}
	s.verdict.raiseTrustLevel(level, p.fullCommandText)
	takesName := p.name != "curl"
	usesBase := p.name == "wget" || slices.Contains(p.args, "-O") || slices.Contains(p.args, "--remote-name")
	for i, a := range p.args {
		switch {
		case (a == "-o" || a == "--output" || (a == "-O" && takesName) || a == "--output-document") &&
			i+1 < len(p.args):
			s.recordFileWithNonAgentText(p.args[i+1])
		case strings.HasPrefix(a, "--output"):
			_, file, _ := strings.Cut(a, "=")
			s.recordFileWithNonAgentText(file)
		case usesBase && isRemoteAddress(a):
			s.recordFileWithNonAgentText(path.Base(a))
		}
	}
}

// recordFileCopies records which files cp, mv and similar programs write. The copies count as the agent's own text only
// if all source files do.
func (s *shellState) recordFileCopies(args []string) {
	rest := findOperands(args)
	if len(rest) < 2 {
		return
	}
	from, to := rest[:len(rest)-1], rest[len(rest)-1]
	// A copy to a device such as /dev/stdout prints the files.
	if strings.HasPrefix(to, "/dev/") || strings.HasPrefix(to, "/proc/") {
		s.recordPrintedFiles(from, "cp "+strings.Join(rest, " "))
		return
	}
	isOwn := s.highestFileTrustLevel(from) == TrustLevelOwnText
	// Also judge the last operand, because it is a source if cp or mv is called with the option -t.
	if !isOwn || s.highestFileTrustLevel([]string{"?" + to}) != TrustLevelOwnText {
		s.verdict.unnamedFilesTrustLevel = TrustLevelForeignText
	}
	s.recordWrittenFiles([]string{to}, isOwn)
	for _, f := range from {
		s.recordWrittenFiles([]string{path.Join(to, path.Base(filepath.ToSlash(f)))}, isOwn)
	}
}

// judgeLineFilterTrust judges a program whose first argument is a pattern or a script, such as grep or sed. If an
// option contains the pattern or script, all arguments are files.
func (s *shellState) judgeLineFilterTrust(p program) {
	rest := findOperands(p.args)
	hasPattern := slices.ContainsFunc(p.args, func(a string) bool {
		return a == "-e" || a == "-f" || strings.HasPrefix(a, "--regexp") || strings.HasPrefix(a, "--file")
	})
	if !hasPattern && len(rest) > 0 {
		s.judgeFilterScriptTrust(p, rest[0])
		rest = rest[1:]
	}
	files := append(s.operandFiles(p.name, rest), findOptionValueFiles(p.args)...)
	// A recursive search without file operands reads the current directory, unless it reads a pipe.
	readsDir := p.isRecursiveSearch() &&
		!s.isPiped
	if readsDir && len(rest) == 0 {
		files = []string{"."}
	}
	s.raiseTrustLevelForFiles(files, p.fullCommandText)
}

// judgeFilterScriptTrust judges a script of sed or awk, because such a script may read files and run commands. It
// records the files that the script names as printed files. If the script may run a command or is not completely known,
// the output has at least TrustLevelUnvouchedText. For other programs, it does nothing.
func (s *shellState) judgeFilterScriptTrust(p program, script string) {
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
	s.recordPrintedFiles(named, p.fullCommandText)
	runsCommand := strings.Contains(script, "system(") || strings.Contains(script, "getline") ||
		(strings.HasSuffix(p.name, "sed") && sedCommandPattern().MatchString(script)) ||
		(strings.HasSuffix(p.name, "awk") && strings.Contains(script, "|"))
	if runsCommand || strings.Contains(script, unknownWordValue) {
		s.verdict.raiseTrustLevel(TrustLevelUnvouchedText, p.fullCommandText)
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

// judgeFileFinderTrust judges a program that finds files, and the program that it runs for the found files.
func (s *shellState) judgeFileFinderTrust(p program) {
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
	s.recordPrintedFiles(roots, p.fullCommandText)
	for i, a := range p.args {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, a) {
			continue
		}
		run := slices.Clone(p.args[i+1:])
		if end := slices.IndexFunc(run, func(a string) bool { return a == ";" || a == "+" }); end >= 0 {
			run = run[:end]
		}
		for k, a := range run {
			run[k] = strings.ReplaceAll(a, "{}", unknownWordValue)
		}
		s.judgeSimpleCommandTrust(replaceUnknownWords(run))
	}
}

// replaceUnknownWords replaces each word by unknownWordValue if a part of the word is not known, such as a variable's
// value.
func replaceUnknownWords(words []string) []string {
	for i, w := range words {
		if strings.Contains(w, unknownWordValue) {
			words[i] = unknownWordValue
		}
	}
	return words
}
