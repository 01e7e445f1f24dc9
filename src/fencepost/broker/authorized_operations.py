"""What a client may do, as a bit field of ACL operations, for the answers that include it when asked.

Nobody is kept from anything, so it is all that the kind of resource knows: what Kafka answers without an authorizer.
"""

NOT_ASKED = -(2**31)
CLUSTER_OPERATIONS = 8096
TOPIC_OPERATIONS = 3576
GROUP_OPERATIONS = 3400
