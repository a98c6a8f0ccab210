// This file finds the files to read, opens archives, and passes each file to the reader for its format.

package exchange

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Read reads the file with the given name. If the name is a directory, Read reads all files in and below the directory
// whose names end in .md, .markdown, .jsonl or .ndjson (optionally followed by .gz), sorted by name.
//
// In a directory, Read skips these files and yields an [*ItemError] for each of them:
//   - a hidden file (its name begins with a dot) that has one of these endings
//   - a hidden directory that contains a file with one of these endings
//   - a file that has none of these endings
//   - a symbolic link, because Read does not follow links
//
// Other hidden files and directories are skipped without an error. If a directory belongs to an mdBook, Read also skips
// book.toml and the table of contents without an error. The table of contents is the file SUMMARY.md next to book.toml
// or in the source directory. If a directory contains a file with the dates of chat sessions, the chat logs in the same
// directory get these dates.
//
// If a file cannot be read, Read yields an ItemError and continues. If there is no file to read in a directory, Read
// yields a fatal error.
func Read(fsys vfs.FS, name string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		info, err := fsys.Stat(name)
		if err != nil {
			yield(Item{}, fmt.Errorf("reading %s: %w", o.joinBasePath(name), err))
			return
		}
		o := o.withSummedProgress()
		if !info.IsDir() {
			o.addExpectedBytes(info.Size())
			for it, err := range readFile(fsys, name, o) {
				if !yield(it, err) {
					return
				}
			}
			return
		}
		readDir(fsys, name, o, yield)
	}
}

// readDir yields the items of all files below a directory.
func readDir(fsys vfs.FS, dir string, o *ReadOptions, yield func(Item, error) bool) {
	opts := o.orDefault()
	if opts.Format == "" {
		opts.Format = detectDirFormat(fsys, dir)
	}
	opts.root = strings.TrimSuffix(o.joinBasePath(dir), "/.")
	src, _ := findImportSource(opts.Format) // If the user named no format, each file is recognized separately.
	roots := []string{dir}
	if src.findRoots != nil {
		roots = src.findRoots(fsys, dir)
	}
	w := fileWalker{
		fsys:                 fsys,
		options:              &opts,
		checkFormatFile:      src.checkFile,
		tableOfContentsPaths: make(map[string]bool),
	}
	for _, root := range roots {
		if err := w.walkRoot(root); err != nil {
			yield(Item{}, err)
			return
		}
	}
	isEmpty := len(w.files) == 0 && len(w.problems) == 0
	if isEmpty && !w.hasIgnoredFile {
		yield(Item{}, w.noFilesError(dir))
		return
	}
	for _, err := range append(w.problems, w.skippedFileErrors...) {
		if !yield(Item{}, err) {
			return
		}
	}
	if len(w.files) > 0 {
		readFiles(fsys, w.files, &opts, yield)
	}
}

// noFilesError returns the error for a directory that contains no file to read.
func (w *fileWalker) noFilesError(dir string) error {
	if w.checkFormatFile != nil {
		return fmt.Errorf(
			"reading %s: no file below it is one of %s%s",
			strings.TrimSuffix(w.options.joinBasePath(dir), "/."),
			w.options.Format,
			w.skippedFileHint(),
		)
	}
	return fmt.Errorf(
		"reading %s: no file below it ends in .md, .markdown, .jsonl or .ndjson%s",
		strings.TrimSuffix(w.options.joinBasePath(dir), "/."),
		w.skippedFileHint(),
	)
}

// walkRoot collects the files below a root. The root may also be a single file.
func (w *fileWalker) walkRoot(root string) error {
	w.root = root
	if info, err := w.fsys.Stat(root); err == nil && info.Mode().IsRegular() {
		w.files = append(w.files, root)
		return nil
	}
	return w.walkDir(root, 0)
}

// checkFile returns nil if the file is to be read, otherwise the reason why it is skipped.
func (w *fileWalker) checkFile(name string) error {
	switch {
	case w.checkFormatFile != nil:
		if w.root != "." {
			name = strings.TrimPrefix(name, w.root+"/")
		}
		return w.checkFormatFile(name)
	case formatByExtension(name) == "":
		return errOtherExtension
	}
	return nil
}

// skippedFileHint returns a hint how to import the first file that was skipped, for example because of its extension.
// The user must pass the path of such a file to oxbow import. If the file is in a ZIP archive, the user must first
// unpack the archive. The hint is "" if no such file was skipped.
func (w *fileWalker) skippedFileHint() string {
	for _, err := range w.skippedFileErrors {
		item, ok := errors.AsType[*ItemError](err)
		if !ok {
			continue
		}
		if item.Err != errOtherExtension && !isSkippedError(item.Err) {
			continue
		}
		if _, isArchive := w.fsys.(*zipFS); isArchive {
			return "; unpack the archive, and give oxbow the file in it that you mean, such as " + item.Position
		}
		return "; a file with another ending is read by its own name: oxbow import " + text.ShellQuote(item.Position)
	}
	return ""
}

// ReadPath is like [Read], for a path in the operating system. root is the directory of a project or "". If file is
// below root, the origins of the items are paths relative to root, so that they are the same on every machine.
// Otherwise they are absolute paths.
func ReadPath(file, root string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		dir, name := filepath.Dir(file), filepath.Base(file)
		if dir == file {
			name = "."
		}
		fsys, err := vfs.Dir(dir)
		if err != nil {
			yield(Item{}, err)
			return
		}
		defer fsys.Close()
		if _, err := fsys.Stat(name); err != nil { // The file may be a link into another directory.
			if at, lerr := filepath.EvalSymlinks(file); lerr == nil && at != file {
				ReadPath(at, root, o)(yield)
				return
			}
		}
		opts := o.orDefault()
		opts.BasePath = originPathPrefix(dir, root)
		for it, err := range Read(fsys, name, &opts) {
			if !yield(it, err) {
				return
			}
		}
	}
}

func originPathPrefix(dir, root string) string {
	if root != "" {
		rel, err := filepath.Rel(root, dir)
		switch {
		case err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)):
		case rel == ".":
			return ""
		default:
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(dir)
}

// fileWalker collects the files below a directory that Read reads.
type fileWalker struct {
	fsys     vfs.FS
	options  *ReadOptions
	files    []string
	problems []error
	// errors for files that are not imported because they are hidden, or because their extension is unknown
	skippedFileErrors    []error
	tableOfContentsPaths map[string]bool // paths at which mdBooks have tables of contents

	// Decides by the name whether a file is read. It is set if the format has its own rule for file names, as the
	// format of Cursor rules does (may be nil).
	checkFormatFile func(file string) error
	root            string // directory or file from which the walk begins
	hasIgnoredFile  bool   // At least one file was ignored without a message.
}

// bookFile is the name of an mdBook's settings file.
const bookFile = "book.toml"

// bookSourcePattern matches the setting for the directory with an mdBook's pages.
var bookSourcePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*src\s*=\s*["']([^"']*)["']`)
})

// recordBookContentsPath records two paths at which the mdBook in the directory can have its table of contents. One is
// in the directory itself. The second path is in the source directory that the book's configuration names, or in src.
func (w *fileWalker) recordBookContentsPath(dir string) {
	src := "src"
	text, err := vfs.ReadFile(w.fsys, path.Join(dir, bookFile), peekSize)
	if m := bookSourcePattern().FindSubmatch(text); err == nil && m != nil {
		src = string(m[1])
	}
	w.tableOfContentsPaths[path.Join(dir, "SUMMARY.md")], w.tableOfContentsPaths[path.Join(dir, src,
		"SUMMARY.md")] = true, true
}

// maxHiddenDirDepth is the maximum depth to which a hidden directory is searched for files that could be imported.
const maxHiddenDirDepth = 4

// hasImportableFile reports whether the directory dir, or a directory below it, contains a file that could be imported.
// It does not search directories whose path has more than maxHiddenDirDepth slashes. The argument depth is the number
// of directories above dir.
func (w *fileWalker) hasImportableFile(dir string, depth int) bool {
	list, err := w.fsys.ReadDir(dir)
	if err != nil || depth > maxDirDepth {
		return false
	}
	return slices.ContainsFunc(list, func(d fs.DirEntry) bool {
		if d.IsDir() {
			return strings.Count(dir, "/") < maxHiddenDirDepth &&
				w.hasImportableFile(path.Join(dir, d.Name()), depth+1)
		}
		return formatByExtension(d.Name()) != ""
	})
}

// walkDir collects the files below a directory. depth is the number of directories above it.
func (w *fileWalker) walkDir(dir string, depth int) error {
	if depth > maxDirDepth {
		return fmt.Errorf("reading %s: directories are more than %d deep", w.options.joinBasePath(dir), maxDirDepth)
	}
	list, err := w.fsys.ReadDir(dir)
	if err != nil {
		if depth == 0 {
			return fmt.Errorf("reading %s: %w", w.options.joinBasePath(dir), err)
		}
		w.problems = append(w.problems, newItemError(w.options.joinBasePath(dir), err))
		return nil
	}
	if slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == bookFile }) {
		w.recordBookContentsPath(dir)
	}
	for _, d := range list {
		if err := w.visitFile(path.Join(dir, d.Name()), d, depth); err != nil {
			return err
		}
	}
	return nil
}

// skippedSymlinkReason says why a symbolic link is not read.
const skippedSymlinkReason = "is a symbolic link, which is not followed"

// isImportableIfVisible reports whether a file or directory would be read if its name did not begin with a dot. Files
// of git, and the metadata that macOS stores beside other files, would not be read.
func (w *fileWalker) isImportableIfVisible(name string, d fs.DirEntry, depth int) bool {
	switch {
	case d.Name() == ".git" || strings.HasPrefix(d.Name(), "._"):
		return false
	case d.IsDir():
		return w.hasImportableFile(name, depth+1)
	}
	return formatByExtension(d.Name()) != ""
}

// visitFile adds a file to w.files if the file is to be imported. If name is a directory, visitFile calls walkDir for
// the directory. Files that checkFile refuses, and hidden files that could be imported otherwise, are recorded in
// w.skippedFileErrors. Other links, and files that are not regular, are recorded in w.problems. Some files are skipped
// without a record: the settings file and the tables of contents of an mdBook, the remaining hidden files, and files
// for which checkFile returns errIgnoredFile. visitFile returns an error if there are more than maxImportFiles files.
func (w *fileWalker) visitFile(name string, d fs.DirEntry, depth int) error {
	switch {
	case d.Name() == bookFile, w.tableOfContentsPaths[name]:
	case strings.HasPrefix(d.Name(), "."):
		if w.isImportableIfVisible(name, d, depth) {
			w.skippedFileErrors = append(w.skippedFileErrors, newItemError(w.options.joinBasePath(name), errHidden))
		}
	case d.IsDir():
		return w.walkDir(name, depth+1)
	case w.checkFile(name) != nil:
		if err := w.checkFile(name); err == errIgnoredFile {
			w.hasIgnoredFile = true
		} else {
			if d.Type()&fs.ModeSymlink != 0 { // The link may lead to a directory with notes.
				err = &skippedError{"was passed over: it " + skippedSymlinkReason}
			}
			w.skippedFileErrors = append(w.skippedFileErrors, newItemError(w.options.joinBasePath(name), err))
		}
	case d.Type()&fs.ModeSymlink != 0:
		w.problems = append(w.problems, newItemError(w.options.joinBasePath(name), errors.New(skippedSymlinkReason)))
	case !d.Type().IsRegular():
		w.problems = append(w.problems, newItemError(w.options.joinBasePath(name), errors.New("is not a regular file")))
	case len(w.files) == maxImportFiles:
		return fmt.Errorf("reading %s: more than %d files", w.options.joinBasePath(path.Dir(name)), maxImportFiles)
	default:
		w.files = append(w.files, name)
	}
	return nil
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// withoutExtension returns a path without the extension ".gz". It also removes the extension before it if files with
// that extension can be imported.
func withoutExtension(name string) string {
	name = strings.TrimSuffix(name, ".gz")
	if s := strings.TrimSuffix(name, path.Ext(name)); path.Base(s) != "" && formatByExtension(name) != "" {
		return s
	}
	return name
}

// compareFilePaths orders the files in a directory, so that a note comes before its copies. First come the files that
// are not conflict copies, and then the conflict copies. Each of these two groups is sorted by name without extension.
// Therefore "Note.md" comes before "Note (1).md" and "Note 2.md".
func compareFilePaths(a, b string) int {
	if byCopy := compareBool(isConflictCopy(path.Base(a)), isConflictCopy(path.Base(b))); byCopy != 0 {
		return byCopy
	}
	if byStem := strings.Compare(withoutExtension(a), withoutExtension(b)); byStem != 0 {
		return byStem
	}
	return strings.Compare(a, b)
}

// readFiles reads the files and yields their items. Files with the dates of chat sessions are read first, because all
// other files in the same directory need the dates. All other files are read in the order of compareFilePaths. In this
// order, a note comes before its conflict copies, so that the note gets the name and the aliases. A conflict copy is a
// second version of a note, which a synchronization program creates if the note was edited on two computers. readFiles
// yields an error if the files contain dates of sessions, but no sessions.
func readFiles(fsys vfs.FS, files []string, o *ReadOptions, yield func(Item, error) bool) {
	slices.SortFunc(files, compareFilePaths)
	dates, rest, ok := readChatSessionDates(fsys, files, o, yield)
	if !ok {
		return
	}
	if len(rest) == 0 && len(dates) > 0 {
		yield(
			Item{},
			fmt.Errorf("reading %s: holds dates of sessions, but no sessions", o.joinBasePath(path.Dir(files[0]))),
		)
		return
	}
	for _, name := range rest {
		if info, err := fsys.Stat(name); o.orDefault().Progress != nil && err == nil {
			o.addExpectedBytes(info.Size())
		}
	}
	for _, name := range rest {
		opts := o.orDefault()
		if d := dates[path.Dir(name)]; d != nil {
			opts.SessionDates = d
		}
		for it, err := range readFile(fsys, name, &opts) {
			// Continue with the next file, even if the error ended the reading of this file.
			if err != nil && !isItemError(err) {
				err = &ItemError{Position: o.joinBasePath(name), Err: err}
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// readChatSessionDates reads the files that contain the dates of chat sessions. The result dates contains, for each
// directory with such a file, a map from the IDs of the sessions to their dates. The result rest contains all other
// files. Errors are passed to the function yield. ok is false if yield returned false or a file could not be read. Then
// the caller must stop.
func readChatSessionDates(
	fsys vfs.FS,
	files []string,
	o *ReadOptions,
	yield func(Item, error) bool,
) (dates map[string]map[string]time.Time, rest []string, ok bool) {
	dates = make(map[string]map[string]time.Time)
	for _, name := range files {
		mayBeDates := o.orDefault().Format == "" && formatByExtension(name) == JSONL
		if !mayBeDates || peekFormat(fsys, name) != ChatDates {
			rest = append(rest, name)
			continue
		}
		dir := path.Dir(name)
		if dates[dir] == nil {
			dates[dir] = make(map[string]time.Time)
			maps.Copy(dates[dir], o.orDefault().SessionDates)
		}
		for err := range readDatesFile(fsys, name, o, dates[dir]) {
			if !yield(Item{}, err) || !isItemError(err) {
				return nil, nil, false
			}
		}
	}
	return dates, rest, true
}

// peekFormat returns a file's format, or "" if it cannot be determined from the beginning of the file.
func peekFormat(fsys vfs.FS, name string) Format {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.NewSectionReader(f, 0, peekSize))
	if err != nil {
		return ""
	}
	format, err := detectFormat(name, head)
	if err != nil {
		return ""
	}
	return format
}

func readDatesFile(fsys vfs.FS, name string, o *ReadOptions, dates map[string]time.Time) iter.Seq[error] {
	return func(yield func(error) bool) {
		f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			yield(newItemError(o.joinBasePath(name), err))
			return
		}
		defer f.Close()
		r, err := decompressInput(bufio.NewReaderSize(o.cancelableReader(wholeFileReader(f)), peekSize), o)
		if err != nil {
			yield(newItemError(o.joinBasePath(name), err))
			return
		}
		for err := range readSessionDates(r, o.joinBasePath(name), o.orDefault().Location, dates) {
			if !yield(err) {
				return
			}
		}
	}
}

func readFile(fsys vfs.FS, name string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			yield(Item{}, fmt.Errorf("opening %s: %w", o.joinBasePath(name), err))
			return
		}
		defer f.Close()
		opts, size := o.orDefault(), int64(peekSize)
		if info, err := f.Stat(); err == nil {
			opts.ModTime, size = info.ModTime(), min(size, info.Size()+bytes.MinRead)
		}
		if isZipFile(f) {
			readZip(f, o.joinBasePath(name), &opts, yield)
			return
		}
		for it, err := range readStream(
			bufio.NewReaderSize(o.readerWithProgress(o.cancelableReader(wholeFileReader(f))), int(size)),
			o.joinBasePath(name),
			&opts,
		) {
			if !yield(it, err) {
				return
			}
		}
	}
}

// isZipFile reports whether a file is a ZIP archive.
func isZipFile(f vfs.File) bool {
	var head [4]byte
	n, _ := f.ReadAt(head[:], 0) // Ignore the error, because the function that reads the whole file reports it.
	return isZipHead(head[:n])
}

// readZip yields the items from the files in a ZIP archive. archiveName is the name of the archive.
func readZip(f vfs.File, archiveName string, o *ReadOptions, yield func(Item, error) bool) {
	fsys, root, err := openZip(f)
	if err != nil {
		yield(Item{}, fmt.Errorf("reading %s: %w", archiveName, err))
		return
	}
	opts := *o
	opts.BasePath = archiveName
	readDir(fsys, root, &opts, yield)
}

// wholeFileReader returns a reader for the whole file.
func wholeFileReader(f vfs.File) io.Reader { return io.NewSectionReader(f, 0, math.MaxInt64) }

// ReadStream reads a single input, which may be compressed with gzip. inputName is its name. If o does not specify a
// format, the format is determined from the name and the first bytes.
func ReadStream(r io.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return readStream(bufio.NewReaderSize(o.cancelableReader(r), peekSize), inputName, o)
}

func readStream(br *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	plain, err := decompressInput(br, o)
	if err != nil {
		return fatalErrorSeq(fmt.Errorf("reading %s: %w", inputName, err))
	}
	format := o.orDefault().Format
	if format == "" {
		head, err := plain.Peek(peekSize)
		if hasPeekFailed(err) {
			return fatalErrorSeq(fmt.Errorf("reading %s: %w", inputName, err))
		}
		format, err = detectFormat(inputName, head)
		if err != nil {
			return fatalErrorSeq(err)
		}
	}
	src, ok := findImportSource(format)
	if !ok {
		return fatalErrorSeq(
			fmt.Errorf("reading %s: format %s is unknown", inputName, truncateAndQuote(string(format))),
		)
	}
	return src.readItems(plain, inputName, o)
}

// decompressInput returns a reader of the decompressed input. The reader fails if the result is longer than
// [ReadOptions.MaxDecompressedBytes]. If the input is not compressed, decompressInput returns it unchanged.
func decompressInput(br *bufio.Reader, o *ReadOptions) (*bufio.Reader, error) {
	head, err := br.Peek(3)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !isGzip(head) {
		return br, nil
	}
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	limit := o.orDefault().MaxDecompressedBytes
	if limit <= 0 {
		limit = maxDecompressedBytes
	}
	over := fmt.Errorf("%w: %d", errExpandedInputTooLarge, limit)
	return bufio.NewReaderSize(&boundedReader{r: zr, remaining: limit, err: over}, peekSize), nil
}
