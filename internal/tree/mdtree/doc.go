// This file contains the package documentation and the specification of a dump.

// Package mdtree stores a memory in directories of Markdown files that people and programs can
// edit. It implements a store that consists of such files ([Open]), and a dump that is written and
// loaded as a whole ([Dump], [Read]).
//
// # The store
//
// A [Store] detects changes that other programs make to its files. It writes all files of a change
// or none, and never overwrites text that it has not read. A [Layout] defines which files contain
// entries, how their text is parsed, and how a change of an entry is expressed as an edit of text.
// An edit replaces only the parts of a file that belong to the entry; all other bytes of the file
// stay unchanged.
//
// # Layout of a dump
//
//	book.toml                 written once; a person's edits stay; mdbook's preprocessors are off
//	SUMMARY.md                the table of contents, always written again
//	notes/NAME.md             one directory a kind, one file an entry:
//	archives/ journals/ worlds/ histories/ handoffs/
//	.oxbow-manifest.json      name, path and SHA-256 of each entry's file, and which
//	                          memory was dumped
//	.oxbow-dump.lock          held while a dump runs
//	.oxbow-dump/              what a dump is about to put in place
//
// The tree is an mdbook: "mdbook serve DIR" shows it. It is also the tree that
// crabtalk's memory (its RFC 0150) dumps and loads, with more directories.
// Everything else below the directory is the person's own and is never touched:
// All other files below the directory belong to the user and are never touched. In the directories
// of kinds, these are the files whose names do not end in ".md" or start with a dot.
//
// # Entry files
//
// A file is a block of HTML, which mdbook shows as a card, one empty line, and
// the content:
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
// All parts but Created stand there only when they say something. Without
// Labels, Name and the comment the bytes are those that crabtalk writes; with
// them crabtalk still reads date, aliases and content, and the name that the
// file's name says: where Name stands, that is another one, such as why%3F for
// why?. The block ends at the first </div>; so text in it has &, < and > escaped, and control
// characters as numbers (&#10;). A file that does not begin with the block is
// all content, undated.
//
// Line breaks around the content belong to the file, not to the content: a
// reader drops those after the block and those at the end. An editor may add or
// trim them. Content that itself begins or ends with line breaks has the
// comment, which lists them: LF, CR or CRLF, *N for a run. Spaces are kept.
//
// Reading a dump returns the same names, kinds, contents, aliases, labels and dates, byte for byte.
// Dumping them again writes the same bytes, except for the line of the manifest that names the
// memory. If all files are up to date, a dump writes nothing. [Dump] describes the state after a
// crash, and [Read] describes which trees are refused.
// line of the manifest that names the memory. A dump that finds everything in
// place writes nothing. See [Dump] for what a crash leaves, and [Read] for what
// is refused.
//
// A load compares three states: the files, the store, and the manifest as their base. Files that
// were not edited change nothing. A change that was made only in the store is kept. If both were
// changed, the load is refused; see [Tree.Plan]. Converting the line ends of a file to CRLF, and
// adding or removing line breaks at its end, are not edits. The manifest of a different store, or
// of a state that the store has not reached, is not used as a base.
package mdtree
