// Package jetstream stores memories on NATS JetStream servers. Each memory is called a brain, and a [Store] gives
// access to one brain. Three servers store each brain, and any number of processes can read and write it at the same
// time.
//
//	nc, system, err := server.Connect("nats://10.0.0.1:4222,nats://10.0.0.2:4222", secret)
//	c, err := jetstream.Connect(ctx, nc, &jetstream.Options{System: system, Dir: "/var/cache/oxbow"})
//	s, err := c.Open(ctx, "acme", "decisions")
//	m := oxbow.New(s, nil) // remembers, recalls and forgets like a memory in a file
//
// # How it works
//
// All changes of a brain are stored as messages. These messages are called envelopes. The envelopes of one brain have
// the same subject. Envelopes are numbered without gaps, and each contains the SHA-256 of the previous envelope. Each
// process applies the envelopes, in order, to a file in the format of a local memory. Time, source and op ID come from
// the envelope. Therefore IDs, versions, change numbers and the hash chain are equal on every node. Reads, including
// history, use this file. A write is validated on the file. It is published only if the preceding envelope is still the
// last. Otherwise the process reads the newer envelopes and validates the write again. Changes that wait for the same
// brain share an envelope.
//
// # Guarantees
//
//   - When Apply returns nil, two of three servers have synced the change to disk. Connect fails with [ErrSettings] if
//     servers acknowledge changes earlier, or if a stream has a configuration other than [Connect] creates.
//   - A read sees all changes that were acknowledged to any process before the read began, because it asks the leader
//     for the last message (the head). A server's own claim to be the leader is not trusted. The proof is that, within
//     the last second, the stream stored a message by this process and the leader heard from all other servers. Without
//     this proof, the process stores an empty message, called a mark. The stream accepts the mark only if the process
//     has the current head. While a server is down, each read has this cost. With Options.Announced, reads ask no
//     server, and [Store.Lag] returns how old their data is.
//   - [oxbow.ErrUnknownOutcome] is the only error after which a change may have been made, or may be made later. A
//     change that is repeated with the same op ID is made once.
//   - Data is rejected if the process finds a gap, a wrong hash or checksum, that a message is missing that was read
//     before, or that a stream is missing or was created again. The process then reads from the other servers. If that
//     fails, the error matches [oxbow.ErrCorrupt]. A missing stream is never created again. A new cluster is created
//     only if the disks of all servers contain no streams, whatever the leader answers, and if no cache exists.
//   - If the leader has lost the last messages of a brain, processes that have read these messages notice the loss.
//     [Cluster.Audit] finds other losses. It compares the data of the servers. If the data of a server differ from the
//     data of the others, Audit prevents this server from becoming a leader. Run it daily, and after each change of
//     servers.
//
// After the loss of a leader, writes stop for 4 to 9 seconds, until the servers have elected another leader.
//
// # Operating
//
// [Cluster.Status] returns the state of servers and streams, and their problems. [Cluster.Backup] writes each brain to
// a file that every oxbow program can open. It skips brains that have not changed since the last backup.
// [Cluster.Restore] restores brains into a new cluster, or missing brains into an existing cluster. It reads a backup
// or the caches of nodes, and preserves IDs, versions, change numbers and the hash chain. [Cluster.Replace] replaces a
// lost server, with an audit before and after.
//
// # Limits
//
// Redacting entries and compacting a memory's history work only for memories in files. Therefore a brain keeps its
// whole history. A brain's stream can be compacted, by replacing its messages by the resulting file. A process stores a
// complete copy of each brain that it has opened.
//
// # Tests and figures
//
//	go test .                                  the contract, faults, damage; 3 minutes
//	go test -run 'Campaign|Flips' -repeats 5 . longer
//	go test -run Figures -figures -v .         figures of the machine at hand
//
// The test that cuts off a leader creates networks, which requires root. Without root, it is skipped. The following
// figures were measured on two quiet cores, with three server processes and changes of 1 kB. One client made 760
// changes a second. 128 clients with 8 brains made 9,300 to 13,000, because waiting writers share a message. This is .7
// to 1.2 times the number of plain messages that the servers accepted. A recall among 10,000 entries took 0.04 ms with
// Options.Announced, as in a local memory, and 0.9 ms if the leader was asked. Without a cache, the first answer from
// 10,000 entries took 59 ms for a get and 102 ms for a recall. With a cache, it took 3.5 and 52 ms.
package jetstream
