/** @file `TwitterAPI`: posts, comments and followed users. */
import { int } from '../../../python/conversions.ts';
import { add, attributeError, contains, dictFor, itemOf, iterate, length, listFor, removeFirst } from '../../../python/operations.ts';
import { lower } from '../../../python/strings.ts';
import { Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, attributesFrom, error, f } from './api.ts';

export const twitterApi: ApiClass = {
  signatures: {
    authenticate_twitter: 'username, password',
    posting_get_login_status: '',
    post_tweet: 'content, tags=..., mentions=...',
    retweet: 'tweet_id',
    comment: 'tweet_id, comment_content',
    mention: 'tweet_id, mentioned_usernames',
    follow_user: 'username_to_follow',
    list_all_following: '',
    unfollow_user: 'username_to_unfollow',
    get_tweet: 'tweet_id',
    get_user_tweets: 'username',
    search_tweets: 'keyword',
    get_tweet_comments: 'tweet_id',
    get_user_stats: 'username',
  },
  create(context) {
    const own = attributesFrom(context, 'TwitterAPI', [
      'username',
      'password',
      'authenticated',
      'tweets',
      'comments',
      'retweets',
      'following_list',
      'tweet_counter',
    ]);
    const tweets = new Dict(
      dictFor('items', own.tweets!)
        .entries()
        .map(([id, tweet]) => [int(id), tweet]),
    );
    own.tweets = tweets;
    const comments = () => dictFor('get', own.comments!);
    const retweets = () => dictFor('get', own.retweets!);
    const following = () => listFor('append', own.following_list!);
    const refused = (act: string) => error(`User not authenticated. Please authenticate before ${act}.`);
    const missing = (id: Value) => error(f`Tweet with ID ${id} not found.`);

    return {
      attributes: own,
      methods: {
        authenticate_twitter(username, password) {
          const right = equal(username!, own.username!) && equal(password!, own.password!);
          if (right) own.authenticated = true;
          return dict({ authentication_status: right });
        },
        posting_get_login_status: () => dict({ login_status: truth(own.authenticated!) }),
        post_tweet(content, tags = context.shared.tags, mentions = context.shared.mentions) {
          if (!truth(own.authenticated!)) return refused('posting');
          const tweet = dict({ id: own.tweet_counter!, username: own.username!, content: content!, tags, mentions });
          tweets.set(own.tweet_counter!, tweet);
          own.tweet_counter = add(own.tweet_counter!, 1n);
          return tweet;
        },
        retweet(id) {
          if (!truth(own.authenticated!)) return refused('retweeting');
          if (!tweets.has(id!)) return missing(id!);
          if (!retweets().has(own.username!)) retweets().set(own.username!, []);
          const done = retweets().get(own.username!)!;
          if (contains(done, id!)) return dict({ retweet_status: 'Already retweeted' });
          listFor('append', done).push(id!);
          return dict({ retweet_status: 'Successfully retweeted' });
        },
        comment(id, content) {
          if (!truth(own.authenticated!)) return refused('commenting');
          if (!tweets.has(id!)) return missing(id!);
          if (!comments().has(id!)) comments().set(id!, []);
          listFor('append', comments().get(id!)!).push(dict({ username: own.username!, content: content! }));
          return dict({ comment_status: 'Comment added successfully' });
        },
        mention(id, usernames) {
          const tweet = tweets.get(id!);
          if (tweet === undefined) return missing(id!);
          const mentions = itemOf(tweet, 'mentions');
          if (!Array.isArray(mentions)) throw attributeError(mentions, 'extend');
          mentions.push(...iterate(usernames!));
          return dict({ mention_status: 'Users mentioned successfully' });
        },
        follow_user(username) {
          if (!truth(own.authenticated!)) return refused('following');
          const follow_status = !contains(following(), username!);
          if (follow_status) following().push(username!);
          return dict({ follow_status });
        },
        list_all_following: () => (truth(own.authenticated!) ? dict({ following_list: following() }) : refused('listing following')),
        unfollow_user(username) {
          if (!truth(own.authenticated!)) return refused('unfollowing');
          return dict({ unfollow_status: removeFirst(following(), username!) });
        },
        get_tweet: (id) => tweets.get(id!) ?? missing(id!),
        get_user_tweets: (username) => tweets.values().filter((tweet) => equal(itemOf(tweet, 'username'), username!)),
        search_tweets: (keyword) =>
          tweets
            .values()
            .filter(
              (tweet) =>
                lower(itemOf(tweet, 'content')).includes(lower(keyword!)) ||
                iterate(itemOf(tweet, 'tags')).map(lower).includes(lower(keyword!)),
            ),
        get_tweet_comments: (id) => (tweets.has(id!) ? (comments().get(id!) ?? []) : missing(id!)),
        get_user_stats(username) {
          const count = tweets.values().filter((tweet) => equal(itemOf(tweet, 'username'), username!)).length;
          const following_count = equal(username!, own.username!) ? length(own.following_list!) : 0n;
          return dict({
            tweet_count: BigInt(count),
            following_count,
            retweet_count: length(retweets().get(username!) ?? []),
          });
        },
      },
    };
  },
};
