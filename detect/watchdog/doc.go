// Package watchdog is SONiC's PFC watchdog, and Juniper's, as the detector of a switch:
// a timer that looks at every lossless queue and calls one that is paused, holds bytes
// and sends nothing for long enough a storm. It then drops what the queue holds, or sends
// in spite of the pause, or only says so.
//
//	poll     poll       poll              poll       poll
//	-+--------+----------+-------  ...  ----+----------+-----> time
//	    ^     |          |                  |          |
//	  pause   baseline   agrees: storm      a pause    no pause frame for
//	                     Report, action     frame      the restoration time:
//	                                        came       restored
//
// SONiC's follows its sources. The times, their scaling and the actions are from
// sonic-utilities pfcwd/main.py. The predicate is that of both sonic-swss
// orchagent/pfc_detect_mellanox.lua since pull request 3036 (bytes wait, none left,
// paused all the time) and orchagent/pfc_detect_broadcom.lua (no pause ended in
// between); ASIC has each alone. Both call a storm at the first poll by which the queue has been stuck for the
// detection time. The time that has really passed is charged, of which a hundredth may be missing, as
// Mellanox's does since pull request 4784; Broadcom's charges a whole poll time. The end
// of a storm is from orchagent/pfc_restore.lua, the counters are from
// orchagent/pfcactionhandler.cpp.
//
// Juniper's (Config.Juniper) is from the page "PFC Watchdog" of the Junos guide on class
// of service. It differs in four things: a queue is stuck from one poll to the next if
// its pause timer is not zero at the second, its transmit counter is as it was, and it
// holds packets, so that a pause may have ended in between; its detection time is a
// number of polls, by default 2, and counts from the first that finds the queue stuck;
// it empties the queue and admits nothing into it, and does not drop what comes in by the port;
// and the queue is back after the recovery time, paused or not. The times are not scaled by
// ports. With the defaults a stall is found 100 to 300 ms after it began.
//
// Read in this order: config.go (times and actions), watchdog.go (the polls),
// stats.go (the counters).
//
// Invariants:
//   - two samples: a storm takes a poll that agrees with the one before it. Where the
//     poll time is the detection time that is enough, so with SONiC's default times a
//     storm is called 200 to 400 ms after the queue stopped;
//   - one grid: polls fall on multiples of the poll time from a phase that is the
//     switch's own, as switches do not start together;
//   - detected is restored, or one more: a queue is in one storm at a time.
//
// What it gets wrong, as the original does, because it sees one queue only:
//   - it knows neither loop nor trigger. The victim of a deadlock, a queue in front
//     of a host that pauses for ever, and one whose receiver is so slow that not a
//     frame leaves for the detection time are all storms;
//   - the switches of a deadlock do not know of each other: those whose polls come
//     before a resume has gone round all drop, far more than it takes;
//   - while a queue drops, it drops the frames of all flows in it and all that come
//     in by its port in its priority, until the far end has been silent for the
//     restoration time; a far end that stays XOFF is never silent;
//   - what formed a deadlock forms it again once the queue is restored;
//   - a pause that is refreshed less often than the restoration time looks like its
//     end, and storms and restorations alternate.
//
// Where it differs from SONiC's original:
//   - a queue that is paused from one poll to the next need not see a pause frame in
//     between, as pauses may be refreshed less often than it polls; with an ASIC it is as there;
//   - SAI counts resumes among the PFC frames, and a pause that expires may not count as one that ended: here
//     pauses alone count as frames, and each end as an end;
//   - a resume frame is not taken for a pause while a storm lasts (a known defect of
//     the original, sonic-swss 4581);
//   - with action forward the switch goes on to send pauses of its own;
//   - it watches the priorities that are lossless at some port of the switch; the original watches all at a
//     port with asymmetric PFC (sonic-swss tests/test_pfcwd.py, test_PfcWdAsym);
//   - the samples after a storm begin with a new baseline.
//
// SAI's DLDR (dldr.go) is the third: the timer of a switch chip, which looks at nothing but the
// pause.
//
// What it does not do: it sends nothing and hears no labels.
package watchdog
