// Package folder lets a memory follow directories of Markdown files that people continue to edit. It keeps the
// list of these folders in the home, and finds the files that have changed since they were last compared.
//
// A comparison lists the directory. A file whose size, time and inode are unchanged is not read. No process
// watches the directory.
//
// # Files in the home
//
//	memory.oxbow.folders        the registered folders, in JSON
//	memory.oxbow.folder.NAME    the files of a folder when it was last compared
//
// Git ignores both, because paths and inodes belong to one machine. The second file can be deleted: the next
// comparison reads all files again, and then removes nothing.
package folder
