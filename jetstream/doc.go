// Package jetstream keeps memories on NATS JetStream: a [Store] is a memory, called a
// brain here, that three servers hold, and that any number of processes write and
// read at the same time.
//
//	nc, system, err := server.Connect("nats://10.0.0.1:4222,nats://10.0.0.2:4222", secret)
//	c, err := jetstream.Connect(ctx, nc, &jetstream.Options{System: system, Dir: "/var/cache/oxbow"})
//	s, err := c.Open(ctx, "acme", "decisions")
//	m := oxbow.New(s, nil) // remembers, recalls and forgets as the memory in a file does
//
// # How it works
//
// All changes of a brain are messages of one subject: envelopes, numbered without
// gaps, each with the SHA-256 of the one before. Each process applies them, in order,
// to a file in the format of a local memory, with the time, the source and the op id
// of the envelope: IDs, versions, numbers and the chain of the file are equal on every
// node. Reads and all history are those of that file. A write is validated on it and
// published only if the envelope that it follows is still the last one; else the tail
// is read and the write is validated again. Changes that wait for the same brain share
// an envelope.
//
// # What it promises
//
//   - An Apply that returned nil is synced to disk by two of three servers. Servers
//     that acknowledge earlier are refused ([ErrSettings]), and so are streams with
//     another configuration than [Connect] makes.
//   - Each read sees what was acknowledged to any process before it began: it asks the
//     leader for the head. No server is taken for the leader by what it says: within
//     the last second the stream took a message of this process, and the leader heard
//     all others; else a mark is stored, a message of no meaning, if the head is still
//     the one that the process has. While a server is down each read costs that.
//     With Options.Announced it asks none, and is as old as
//     [Store.Lag] returns.
//   - [oxbow.ErrUnknownOutcome] is the only error after which a change may be made, now
//     or later. The same change with the same op id is made once.
//   - A gap, a wrong hash or checksum, a message that was read and is gone, a stream
//     that is missing or was made again: nothing is served from it. The other servers
//     are asked, else the error matches [oxbow.ErrCorrupt]. A missing stream is never
//     made again: a cluster is begun where all servers have nothing on their disks,
//     whatever the one that leads them answers, and no cache is there.
//   - What the server that leads lost of the end of a brain shows where a process has
//     read it, or by [Cluster.Audit], which compares the servers and keeps one that
//     differs from leading. Let it run daily, and after each change of servers.
//
// The loss of a leader stops writes for 4 to 9 seconds, as long as servers take to
// elect another.
//
// # Operating
//
// [Cluster.Status] has the servers, the streams, and what is wrong with them.
// [Cluster.Backup] writes each brain to a file that any program of oxbow opens, and next
// time only those that changed; [Cluster.Restore] brings them back into a new cluster, or
// the one that is missing into this, from a backup or from the caches of nodes: with the
// same IDs, versions, numbers and chain. [Cluster.Replace] puts another server in the
// place of one that is lost, with an audit before and after.
//
// # What it does not do
//
// Redaction and the compaction of a memory's history are those of files: a brain keeps
// all its history. The stream of a brain is compacted, into the file that it adds up
// to. A process holds the brains that it has open, each whole.
//
// # Tests and figures
//
//	go test .                                  the contract, faults, damage; 3 minutes
//	go test -run 'Campaign|Flips' -repeats 5 . longer
//	go test -run Figures -figures -v .         figures of the machine at hand
//
// The campaign that cuts a leader off makes networks, which takes root; else it is
// skipped. On two quiet cores, three servers as processes and changes of 1 kB:
// 760 changes a second by 1 client, 9,300 to 13,000 by 128 of 8 brains, whose waiting
// writers share a message: .7 to 1.2 of the bare messages that the servers took; a
// recall among 10,000 entries took 0.04 ms with announced reads as in a local
// memory, 0.9 ms with the leader asked; the first answer of 10,000 entries that no
// cache had, 59 ms for a get and 102 ms for a recall, with a cache 3.5 and 52 ms.
package jetstream
