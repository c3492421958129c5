// Package campaign keeps a long run of the simulator in a folder: it is played in shards, by
// whatever plays them, and only what is missing is played.
//
//	DIR/campaign.json    the command, and into how many shards it is divided
//	DIR/my.yaml          files that it reads, as they were
//	DIR/shards/3.json    shard 3, whole
//	DIR/playing/3        shard 3, while it is played
//
//	Run (this machine) --.
//	Slurm --------------- +--> Play, shard by shard --> softswitch COMMAND --shard 3/16 --> DIR/shards
//	Kubernetes -----------|                                                                    |
//	GNU parallel --------'                            softswitch campaign merge <--------------'
//
// Read in this order: Campaign (campaign.go), Play (play.go), then what plays shards elsewhere:
// slurm.go, parallel.go, kubernetes.go.
//
// Invariants:
//   - a file in shards is a whole shard: it gets its name when all of it is on the disk;
//   - nobody plays a shard that is being played on the same file system, or is there;
//   - anything may be ended at any moment, by a signal or by a power cut: the next run goes on.
//
// What it does not do: it schedules nothing and adds nothing up. Which machine plays which
// shard is the engine's affair; package shard and the commands' packages merge.
package campaign
