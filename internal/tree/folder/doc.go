// Package folder lets a memory follow directories of Markdown files that people continue to edit. The package keeps
// the list of these folders in the home, and finds the files that have changed since the last comparison.
//
// A comparison lists the directory. A file whose size, time and inode are unchanged is not read. No process
// watches the directory.
//
// # Files in the home
//
//	memory.oxbow.folders        the registered folders, in JSON
//	memory.oxbow.folder.NAME    the files of a folder when it was last compared
//
// Git ignores both kinds of files, because paths and inodes belong to one machine. A file memory.oxbow.folder.NAME can
// be deleted. The next comparison then reads all files of the folder again, and removes no entry.
package folder
