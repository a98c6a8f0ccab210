// This file contains the package documentation and the specification of a dump.

// Package mdtree stores a memory in directories of Markdown files that people and programs can edit. It implements a
// store that consists of such files ([Open]), and a dump that is written and loaded as a whole ([Dump], [ReadTree]).
//
// # The store
//
// A [Store] detects changes that other programs make to the store's files. The store writes either all files of a
// change or none, and never overwrites text that it has not read. A [Layout] defines which files contain entries, how
// their text is parsed, and how an entry's change is expressed as an edit of text. An edit replaces only the parts of a
// file that belong to the entry, and leaves all other bytes unchanged.
//
// # Layout of a dump
//
//	book.toml                 written once; edits by users stay; mdbook's preprocessors are off
//	SUMMARY.md                the table of contents, always written again
//	notes/NAME.md             one directory per kind, one file per entry:
//	archives/ journals/ worlds/ histories/ handoffs/
//	.oxbow-manifest.json      name, path and SHA-256 of each entry's file, and which
//	                          memory was dumped
//	.oxbow-dump.files         hashes, sizes and times of the files, so that the next dump and load
//	                          need not read unchanged files; it may be deleted at any time
//	.oxbow-dump.lock          held while a dump runs
//	.oxbow-dump/              the new files of a dump that is not complete yet
//
// The tree is an mdbook, which "mdbook serve DIR" shows. It has the same format as the tree that the memory of crabtalk
// (crabtalk RFC 0150) dumps and loads, with additional directories. All other files below the directory belong to the
// user and are never touched. In the directories of kinds, a file belongs to the user if its name starts with a dot, or
// if its name does not end in ".md".
//
// # Entry files
//
// A file consists of an HTML block, which mdbook shows as a card, an empty line, and the content:
//
//	<div id="meta">
//	<dl>
//	  <dt>Created</dt>
//	  <dd><time datetime="2026-04-14T10:23:45Z">2026-04-14T10:23:45Z</time></dd>
//	  <dt>Aliases</dt>
//	  <dd>
//	    <ul>
//	      <li>ship</li>
//	    </ul>
//	  </dd>
//	  <dt>Labels</dt>
//	  <dd>
//	    <ul>
//	      <li>project:vtt</li>
//	    </ul>
//	  </dd>
//	  <dt>Name</dt>
//	  <dd>a name that the file name cannot show</dd>
//	  <!-- content: LF*2 before, LF after -->
//	</dl>
//	</div>
//
//	prod rollout steps
//
// All parts except Created are written only if they are not empty. A file without Labels, Name and the comment has the
// same bytes as the file that crabtalk writes. From a file with them, crabtalk reads the date, the aliases and the
// content, and takes the name from the file name. If the file has a Name, this name differs from the entry's, for
// example why%3F instead of "why?". The block ends at the first </div>. Therefore &, < and > are escaped in its text,
// and control characters are written as numbers (&#10;). If a file does not begin with the block, the whole file is an
// entry's content, and the entry lacks a date.
//
// Line breaks around the content do not belong to the content. A reader removes the line breaks after the block and at
// the end of the file, so that an editor may add or remove such line breaks. If the content itself begins or ends with
// line breaks, the comment lists them: LF, CR or CRLF, with *N for N in a row. Spaces are kept.
//
// Reading a dump returns the same names, kinds, contents, aliases, labels and dates, byte for byte. A dump of the
// entries that were read has the same bytes as the first dump, except for the manifest's line that names the memory. If
// all files are up to date, a dump writes at most the list of known files. [Dump] describes the state after a crash,
// and [ReadTree] describes which trees are refused.
//
// A load compares three states: the files, the store, and the manifest as their base. Files that were not edited change
// nothing. A change that was made only in the store is kept. If both were changed, the load is refused; see
// [Tree.PlanLoadIntoStore]. It is not an edit to convert a file's line ends to CRLF, or to add or remove line breaks at
// the end of the file. A different store's manifest, or the manifest of a state that the store has not reached, is not
// used as a base.
package mdtree
