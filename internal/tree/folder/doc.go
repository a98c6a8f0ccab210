// Package folder lets a memory follow directories of Markdown files that people continue to edit. The package stores
// the list of these folders in the home, and finds the files that have changed since the last comparison.
//
// A comparison lists the files of the directory. It does not read a file whose size, times and inode are unchanged. No
// process watches the directory between comparisons.
//
// # Files in the home
//
//	memory.oxbow.folders        the registered folders, in JSON
//	memory.oxbow.folder.NAME    the files of a folder when it was last compared
//
// Git ignores both kinds of files, because paths and inodes are different on each machine. A file
// memory.oxbow.folder.NAME can be deleted. The next comparison then reads all files of the folder again, and removes
// no entry.
package folder
