"""What are the defaults that the promises hang on: acknowledgements, idempotence, requests in flight, isolation level?

Prints those of our client. With `--apache-kafka` those of Kafka's Java client are beside them, as the classes of its
settings print them; that needs the jars of `make kafka`, and Java.
"""

import argparse
import re
import subprocess

from examples.questions.asking import print_rows
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.settings import ProducerSettings
from fencepost.lab.apache_kafka import find_jars
from fencepost.settings import as_text

PRODUCER = (
    "acks",
    "enable.idempotence",
    "max.in.flight.requests.per.connection",
    "retries",
    "delivery.timeout.ms",
    "transaction.timeout.ms",
)
CONSUMER = ("isolation.level", "enable.auto.commit", "auto.commit.interval.ms")
CLASSES = {
    "org.apache.kafka.clients.producer.ProducerConfig": PRODUCER,
    "org.apache.kafka.clients.consumer.ConsumerConfig": CONSUMER,
}


def ours() -> dict[str, str]:
    found = {name: as_text(getattr(ProducerSettings(), name.replace(".", "_"))) for name in PRODUCER}
    return found | {name: as_text(getattr(ConsumerSettings(), name.replace(".", "_"))) for name in CONSUMER}


def javas() -> dict[str, str]:
    """Out of the table that each class of settings prints when it is run."""
    jars = find_jars()
    if jars is None:
        raise SystemExit("the jars of Apache Kafka are not here: run `make kafka` first")
    found: dict[str, str] = {}
    for class_name, names in CLASSES.items():
        command = ["java", "-cp", f"{jars}/*", class_name]
        page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name in names:
            row = re.search(rf'<a id="\w*_?{re.escape(name)}">.*?<th>Default:</th><td>(.*?)</td>', page, re.DOTALL)
            found[name] = row[1].split(" ")[0] if row else "?"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apache-kafka", action="store_true", help="the Java client's beside ours")
    arguments = parser.parse_args()
    columns = [ours(), javas()] if arguments.apache_kafka else [ours()]
    header = ["setting", "fencepost", "Apache Kafka"][: 1 + len(columns)]
    print_rows(header, [[name, *(column[name] for column in columns)] for name in (*PRODUCER, *CONSUMER)])


if __name__ == "__main__":
    main()
