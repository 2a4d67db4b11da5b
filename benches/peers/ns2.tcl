# A case of `make bench` in ns-2: flows with access links of their own over one trunk or two, and as many links back.
#
# usage: ns ns2.tcl KEY=VALUE...   with the words that `millpond-bench describe NAME` prints
#
# It prints a line as `millpond-bench run` does: packet-hops, and what happened after the warm-up. Each acknowledged packet has crossed the
# links to its receiver, and its acknowledgement as many back. Lost packets and those in the network at the end are not counted.
# The slow-start threshold is 100 packets, as in htsim: ns-2's NewReno has no selective acknowledgements either.

foreach word $argv {
    if {![regexp {^([^=]+)=(.*)$} $word -> key value]} {
        puts stderr "error: expected KEY=VALUE, found \"$word\""
        exit 2
    }
    set given($key) $value
}

# The TCP agents of each protocol, and the queue of its links on the way there.
set known {newreno {Agent/TCP/Newreno Agent/TCPSink DropTail} xcp {Agent/TCP/Reno/XCP Agent/TCPSink/XCPSink XCP}}
if {![dict exists $known $given(protocol)]} {
    puts stderr "error: protocol: expected newreno or xcp, found \"$given(protocol)\""
    exit 2
}
lassign [dict get $known $given(protocol)] sender_kind sink_kind queue_kind

set unlimited 1000000
set slow_start_threshold 100
set header 40
Agent/TCP set packetSize_ [expr {$given(packet) - $header}]
Agent/TCP set window_ $unlimited
Agent/TCP set windowInit_ $given(initial_window)

set ns [new Simulator]

# A link in one direction; its delay is in picoseconds.
proc link {from to rate delay buffer kind} {
    global ns
    $ns simplex-link $from $to $rate ${delay}ps $kind
    $ns queue-limit $from $to $buffer
    if {$kind eq "XCP"} {
        [[$ns link $from $to] queue] set-link-capacity $rate
    }
}

set nodes [list [$ns node]]
set rates {}
foreach trunk [split $given(trunks) ,] {
    lassign [split $trunk /] rate delay buffer
    lappend nodes [$ns node]
    lassign [lrange $nodes end-1 end] left right
    link $left $right $rate $delay $buffer $queue_kind
    link $right $left $rate $delay $unlimited DropTail
    lappend rates $rate
}

# A flow over this number of trunks, whose access links have this delay.
proc add_flow {delay crosses start} {
    global ns nodes given unlimited sender_kind sink_kind queue_kind slow_start_threshold flows
    lassign [list [$ns node] [$ns node] [lindex $nodes 0] [lindex $nodes $crosses]] source target left right
    link $source $left $given(access_rate) $delay $unlimited $queue_kind
    link $right $target $given(access_rate) $delay $unlimited $queue_kind
    link $target $right $given(access_rate) $delay $unlimited DropTail
    link $left $source $given(access_rate) $delay $unlimited DropTail
    set sender [new $sender_kind]
    set sink [new $sink_kind]
    $ns attach-agent $source $sender
    $ns attach-agent $target $sink
    $ns connect $sender $sink
    set application [new Application/FTP]
    $application attach-agent $sender
    $ns at $start "$application start; $sender set ssthresh_ $slow_start_threshold"
    lappend flows [list $sender $crosses]
}

set flows {}
set users [split $given(users) ,]
set total 0
foreach kind $users { incr total [lindex [split $kind /] 0] }
foreach kind $users {
    lassign [split $kind /] count delay crosses
    for {set i 0} {$i < $count} {incr i} {
        add_flow $delay $crosses [expr {double([llength $flows]) / $total}]
    }
}

# Acknowledged packets of each flow.
proc acknowledged {} {
    global flows
    set counts {}
    foreach flow $flows { lappend counts [expr {[[lindex $flow 0] set ack_] + 1}] }
    return $counts
}

proc report {} {
    global flows before given rates
    set counts [acknowledged]
    set hops 0
    foreach count $counts flow $flows { incr hops [expr {$count * 2 * (2 + [lindex $flow 1])}] }
    foreach rate $rates { lappend carried 0 }
    foreach count $counts earlier $before flow $flows {
        for {set trunk 0} {$trunk < [lindex $flow 1]} {incr trunk} {
            lset carried $trunk [expr {[lindex $carried $trunk] + $count - $earlier}]
        }
    }
    set seconds [expr {$given(seconds) - $given(warm_up)}]
    set shares {}
    foreach packets $carried rate $rates {
        lappend shares [format %.4f [expr {$packets * $given(packet) * 8.0 / ($rate * $seconds)}]]
    }
    puts "$hops utilization [join $shares { and }]"
    exit 0
}

$ns at $given(warm_up) {set before [acknowledged]}
$ns at $given(seconds) report
$ns run
